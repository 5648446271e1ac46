"""`holdtrue serve DIRECTORY`: this project's own store as a target of the wire protocol.

It is an adapter like any other: the surroundings are kept here, the store is `impl`, and replies go to
standard output, one to each request. It ends at the end of its input. It is the protocol's reference in code,
and what the checks' own speed over the wire is measured with.

A request that makes no sense is answered with an error; only a line that is no JSON ends it.
"""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, get_args

from impl import disk
from impl.points import COORDINATOR_POINTS
from model import actions
from model.action_forms import action_from_json
from model.actions import Call, Happens, Moment, Open
from model.values import JSON
from stateful_tests.surroundings import Ledger, Surroundings
from stateful_tests.target import Answered, Crashed, Refusal, Result, StoreTarget, UnknownHostError
from stateful_tests.wire.capabilities import EFFECTS, VERSION, Capabilities, Greeting
from stateful_tests.wire.conversation import CRASHED, NO_SUCH_HOST, UNKNOWN_REQUEST

WIRED: Final[Mapping[str, type]] = {
    name[0].lower() + name[1:]: getattr(actions, name)
    for name in (
        *("Open", "Call", "ReadEpoch", "Close", "AdvanceClock", "SetLease", "SetIdentity"),
        *("Admit", "Abandon", "Finish", "Park", "Quiesce"),
    )
}
"""The actions that are requests of the protocol, by what they `do`."""

CAPABILITIES: Final = Capabilities(
    moments=frozenset(get_args(Moment)),
    effects=frozenset(EFFECTS),
    hosts="many",
    read_epoch=True,
    exact_numbers=True,
    surrogates=True,
    files="coordinator",
    again=True,
    crash_points=tuple(str(point) for point in COORDINATOR_POINTS),
)

LOCK_TIMEOUT_S: Final = 8.0
"""How long other processes are waited for: not as long as a reply may take."""

Message = dict[str, Any]


class UnknownRequestError(ValueError):
    """The request is none of the protocol's."""


class Server:
    """Answers requests one by one. The store is opened by the request that says so."""

    def __init__(self, directory: Path, *, version: str = "0") -> None:
        self._directory = directory
        self._version = version
        self._target: StoreTarget | None = None
        self._facts: tuple[int, JSON] = (-1, {})
        self._others: Mapping[str, Callable[[Message], JSON]] = {
            "begin": self._begin,
            "observe": lambda _request: self._observation(),
            "armCrash": self._arm,
        }

    def answer(self, request: Message) -> Message:
        """The reply to `request`. Never raises for what a request may say."""
        reply: Message = {"id": request.get("id")}
        try:
            if request.get("do") == "hello":
                return {**reply, "hello": Greeting("holdtrue", self._version, CAPABILITIES).to_json()}
            reply |= self._done(request)
        except UnknownHostError as error:
            reply["error"] = _error(NO_SUCH_HOST, str(error))
        except UnknownRequestError as error:
            reply["error"] = _error(UNKNOWN_REQUEST, str(error))
        if request.get("observe") is True and self._target is not None:
            reply["observation"] = self._observation()
        return reply

    def close(self) -> None:
        if self._target is not None:
            self._target.close()

    def _done(self, request: Message) -> Message:
        do = request.get("do")
        other = self._others.get(str(do))
        if other is not None:
            return {"ok": other(request)}
        if do not in WIRED:
            raise UnknownRequestError(f"{do!r} is no request of protocol {VERSION}")
        form = {key: value for key, value in request.items() if key not in ("id", "observe")}
        try:
            action = action_from_json(form, "request")
        except ValueError as error:
            raise UnknownRequestError(str(error)) from None
        if self._target is None:
            raise UnknownRequestError("begin comes first")
        reply = _reply(self._target.apply(action))
        if isinstance(action, Open | Call) and action.disturbances:
            reply["struck"] = _struck(action, self._target.struck)
        return reply

    def _begin(self, request: Message) -> JSON:
        told = request.get("surroundings")
        place = request.get("directory", str(self._directory))
        if not isinstance(told, dict) or not isinstance(place, str):
            raise UnknownRequestError("begin needs a directory and surroundings")
        self.close()
        disk.install(None)
        target = StoreTarget(Path(place), lock_timeout_s=LOCK_TIMEOUT_S)
        self._target, self._facts = target, (-1, {})
        try:
            _surround(self._target.around, told)
        except (KeyError, TypeError, ValueError) as error:
            raise UnknownRequestError(f"surroundings: {type(error).__name__}: {error}") from None
        return None

    def _observation(self) -> JSON:
        if self._target is None:
            raise UnknownRequestError("begin comes first")
        around = self._target.around
        if self._facts[0] != around.revision:
            facts: dict[str, JSON] = {name: one.to_json() for name, one in around.ledgers.items()}
            self._facts = (around.revision, facts)
        return {"facts": self._facts[1], "launched": [*around.launched]}

    def _arm(self, request: Message) -> JSON:
        try:
            point, nth = disk.CrashPoint(str(request.get("point"))), request.get("nth")
        except ValueError:
            raise UnknownRequestError(f"{request.get('point')!r} is no marked point") from None
        if type(nth) is not int or nth < 1:
            raise UnknownRequestError(f"nth: arrivals are counted from 1, not {nth!r}")
        disk.install(disk.kill_at(point, nth))
        return None


def _surround(around: Surroundings, told: Mapping[str, Any]) -> None:
    around.clock, around.lease = int(told["clock"]), told["lease"]
    around.people = dict(told["identities"])
    around.project_seq = int(told["projectSeq"])
    around.launched = list(told["launched"])
    around.ledgers = {name: _ledger(fact) for name, fact in told["facts"].items()}


def _ledger(fact: Mapping[str, Any]) -> Ledger:
    run = {}
    if fact["kind"] == "admitted":
        run = {
            "status": fact["status"],
            "stage": fact["stage"],
            "requires_readmission": fact["requiresReadmission"],
            "quiescent": fact["quiescent"],
        }
    return Ledger(
        fact["reservationId"],
        fact["projectId"],
        fact["projectControlDomainId"],
        fact["runId"],
        kind=fact["kind"],
        commit_seq=fact["commitSeq"],
        run_version=fact["runVersion"],
        **run,
    )


def _reply(result: Result) -> Message:
    if isinstance(result, Answered):
        return {"ok": result.value}
    if isinstance(result, Refusal):
        return {"error": _error(result.code, "refused", result.side_effects)}
    assert isinstance(result, Crashed)
    return {"error": _error(CRASHED, result.text, "unknown")}


def _error(code: str, message: str, side_effects: str = "none") -> Message:
    return {"code": code, "message": message, "side_effects": side_effects}


def _struck(action: Open | Call, keys: tuple[str, ...]) -> list[int]:
    """Indices of the disturbances that struck, from their names. Two of one name are alike."""
    names = [
        f"moment/{one.moment}/{type(one.effect).__name__.lower()}"
        + (f"/{type(one.effect.event).__name__}" if isinstance(one.effect, Happens) else "")
        for one in action.disturbances
    ]
    struck: list[int] = []
    for at, key in enumerate(keys):
        if not key.startswith("moment/"):
            continue
        wanted = key
        if key.endswith("/happens"):
            event = keys[at + 1].removeprefix("meanwhile/")
            wanted = f"{key}/{event[0].upper()}{event[1:]}"
        index = next((one for one, name in enumerate(names) if name == wanted and one not in struck), None)
        if index is not None:
            struck.append(index)
    return struck


def serve(directory: Path, requests: BinaryIO, replies: BinaryIO, *, version: str = "0") -> int:
    """Answers requests until they end; returns the exit status."""
    server = Server(directory, version=version)
    encode = json.JSONEncoder(separators=(",", ":")).encode
    try:
        for line in requests:
            try:
                request = json.loads(line)
            except (ValueError, RecursionError) as error:
                print(f"a request that is no JSON: {error}", file=sys.stderr)
                return 2
            if not isinstance(request, dict):
                print("a request that is no JSON object", file=sys.stderr)
                return 2
            replies.write(encode(server.answer(request)).encode("ascii") + b"\n")
            replies.flush()
    finally:
        server.close()
    return 0
