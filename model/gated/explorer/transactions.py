"""Alphabets of transactions: one client and several, every failing step, every form of request."""

from typing import Final

from attrs import evolve

from model.gated.explorer.requests import NONSENSE, counting, gated, putting, steps
from model.gated.explorer.schemes import Deaths, Request, Scheme, fails, opening, reading
from model.gated.explorer.variants import LOST, TRYING, every_kind, of_recovery

KEYS: Final = ("k1", "k2", "k3")


def _writing(*keys: str, deaths: Deaths) -> tuple[Request, ...]:
    return tuple(Request(key, counting(key), TRYING, deaths, deaths) for key in keys)


def kinds() -> Scheme:
    """Each way of failing, where one key is written."""
    request = Request("k1", counting("k1"), every_kind(), deaths="none")
    lost = of_recovery()
    return Scheme(2, (opening(*lost, deaths="none"), reading(*lost, deaths="none"), request))


def transact() -> Scheme:
    """One client, three keys, everything that can fail, every death."""
    first = opening(*LOST, late_deaths="each")
    return Scheme(1, (first, reading(*LOST), *_writing(*KEYS, deaths="each")), alike=(KEYS,))


def clients() -> Scheme:
    """Two clients: what one leaves behind, the other finds."""
    keys = KEYS[:2]
    first = opening(*LOST, deaths="telling")
    return Scheme(2, (first, reading(*LOST), *_writing(*keys, deaths="telling")), alike=(keys,))


def many_clients() -> Scheme:
    """Three clients and three keys."""
    first = opening(*LOST, deaths="telling")
    return Scheme(3, (first, reading(*LOST), *_writing(*KEYS, deaths="telling")), alike=(KEYS,))


def gate() -> Scheme:
    """Who is known, and what a caller's own function does."""
    again, raising = fails("rollback"), (fails("rollback"), fails("begin"))
    first = counting("k1")
    requests = [
        Request("k1", first, (again, fails("commit"))),
        Request("k1, other intent", evolve(first, intent="other"), (again,)),
        Request("k1, raising", evolve(first, mutation={"raises": True}), raising, "telling"),
        Request("k1, garbage", evolve(first, mutation={"garbage": [1]}), raising, "telling"),
        Request("k1, no integer there", evolve(first, mutation={"increment": "ü"}), deaths="none"),
        Request("p1", putting("p1"), (again, fails("mirror"), fails("commit")), "telling"),
    ]
    return Scheme(1, (opening(*LOST, deaths="telling"), reading(), *requests))


def verify() -> Scheme:
    """Through the gate and back, with a state that others change."""
    raising = (fails("rollback"), fails("begin"))
    requests = (
        Request("v1", gated("v1", True), (fails("rollback"), fails("append-fsync"), fails("mirror"))),
        Request("v1, said no", gated("v1", False), raising),
        Request("v1, raising", gated("v1", "raises"), raising),
        Request("p1", putting("p1"), (fails("mirror"),), "telling"),
    )
    return Scheme(1, (opening(*LOST, deaths="telling"), reading(), *requests))


def fields() -> Scheme:
    """One key, and requests for it that are another by one field each."""
    first = counting("k1")
    changes = {
        "other operation": {"operation_id": "another"},
        "other run": {"run_id": "another"},
        "other node": {"node_id": "elsewhere"},
        "other event": {"event_type": "row.counted"},
        "other phase": {"phase": "commit"},
        "with an attempt": {"attempt_id": "first"},
        "other intent": {"intent": {"by": 2}},
    }
    asked = [Request("k1", first, deaths="none")]
    for name, each in changes.items():
        asked.append(Request(f"k1, {name}", evolve(first, **each), deaths="none"))  # type: ignore[arg-type]
    return Scheme(1, (opening(deaths="none"), reading(deaths="none"), *asked))


def requests() -> Scheme:
    """Requests that are another by one field, and those that can't be made."""
    first = counting("k1")
    changes = {
        "other node": {"node_id": "elsewhere"},
        "other event": {"event_type": "row.counted"},
        "with an attempt": {"attempt_id": "first"},
        "a receipt's key": {"idempotency_key": "r1"},
        **NONSENSE,
    }
    asked = [Request("k1", first, deaths="telling"), Request("steps", steps(True), deaths="telling")]
    for name, each in changes.items():
        asked.append(Request(f"k1, {name}", evolve(first, **each), deaths="none"))
    return Scheme(1, (opening(deaths="telling"), reading(deaths="none"), *asked))
