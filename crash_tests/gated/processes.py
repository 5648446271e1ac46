"""Real processes at one ledger at once: they transact, open, retry one key, apply and undo the same steps.

Each race runs in a fresh place and answers what was wrong, in words; nothing is left running when it
returns. Whatever the order in which the processes come, the same must hold: so a race that passes says
nothing of orders that did not come up this time.
"""

from collections import Counter
from functools import partial

from crash_tests.gated.clients import (
    Place,
    applying,
    asked,
    count,
    effects,
    faults,
    keys,
    looked,
    names,
    opened,
    undoing,
)
from crash_tests.races import Race, Said, at_once

TRANSACTIONS = 10


def clients_at_once(place: Place) -> list[str]:
    """6 processes make 10 transactions each."""
    opened(place).close()

    def client(number: int) -> Said:
        with opened(place) as mine:
            said = [count(mine, f"{number}-{each}") for each in range(TRANSACTIONS)]
        return Said(",".join(sorted({one.code for one in said})))

    said = at_once([partial(client, number) for number in range(6)])
    wrong = [f"a client got {one.code}" for one in said if one.code != "committed"]
    found = keys(place)
    if len(found) != len(set(found)) or len(found) != 6 * TRANSACTIONS:
        wrong.append(f"{6 * TRANSACTIONS} transactions made {len(found)} events")
    if fold_of(place).get("n") != 6 * TRANSACTIONS:
        wrong.append(f"{6 * TRANSACTIONS} increments come to {fold_of(place)}")
    return wrong + faults(place)


def fold_of(place: Place) -> dict[str, object]:
    """The rows in the mirror."""
    mirror = looked(place).store["mirror"]
    return dict(mirror["state"]) if isinstance(mirror, dict) else {}


def first_opens(place: Place) -> list[str]:
    """8 processes open a directory that is not there yet, and make a transaction each."""

    def client(number: int) -> Said:
        with opened(place) as mine:
            return count(mine, f"k{number}")

    said = at_once([partial(client, number) for number in range(8)])
    wrong = [f"a client got {one.code}: {one.value}" for one in said if one.code != "committed"]
    if sorted(keys(place)) != [f"k{number}" for number in range(8)]:
        wrong.append(f"8 transactions made {keys(place)}")
    more = [name for name in names(place.store) if "aside" in name or name.endswith(".new")]
    return wrong + [f"left behind: {name}" for name in more] + faults(place)


def one_key(place: Place) -> list[str]:
    """8 processes retry one request."""
    opened(place).close()

    def client() -> Said:
        with opened(place) as mine:
            return count(mine, "k")

    codes = Counter(one.code for one in at_once([client] * 8))
    wrong = [] if codes == {"committed": 1, "noop": 7} else [f"8 retries of one request got {dict(codes)}"]
    if keys(place) != ["k"] or fold_of(place) != {"n": 1}:
        wrong.append(f"one request made {keys(place)}, and the state is {fold_of(place)}")
    return wrong + faults(place)


def one_lost_answer(place: Place) -> list[str]:
    """4 processes retry a request of which nobody knows whether it was done, next to others' requests."""
    with opened(place) as mine:
        count(mine, "k")

    def client(number: int) -> Said:
        with opened(place) as mine:
            before = count(mine, f"k{number}")
            return Said(f"{before.code} {count(mine, 'k').code}")

    codes = {one.code for one in at_once([partial(client, number) for number in range(4)])}
    wrong = [] if codes == {"committed noop"} else [f"the retries got {sorted(codes)}"]
    if fold_of(place) != {"n": 5}:
        wrong.append(f"five requests made {fold_of(place)}")
    return wrong + faults(place)


def one_step(place: Place) -> list[str]:
    """6 processes apply the same steps, of which the second must not run twice."""
    opened(place).close()

    def client() -> Said:
        with opened(place) as mine:
            return asked(lambda: mine.apply_steps(applying(place, True, False)))

    said = at_once([client] * 6)
    codes = Counter(one.code for one in said)
    wrong = [f"a client got {code}" for code in codes if code not in ("completed", "in_doubt")]
    if codes["completed"] == 0:
        wrong.append(f"nobody completed: {dict(codes)}")
    if effects(place)["run/s2"] != 1:
        wrong.append(f"a step that is not idempotent ran {effects(place)['run/s2']} times")
    if sorted(keys(place)) != ["run/r1", "run/r2", "run/r2:started"]:
        wrong.append(f"the steps made {keys(place)}")
    return wrong + faults(place)


def one_compensation(place: Place) -> list[str]:
    """6 processes compensate the same."""
    opened(place).close()

    def client() -> Said:
        with opened(place) as mine:
            return asked(lambda: mine.compensate(undoing(place, 2)))

    codes = Counter(one.code for one in at_once([client] * 6))
    wrong = [] if set(codes) == {"rolled_back"} else [f"compensating at once got {dict(codes)}"]
    if sorted(keys(place)) != ["run/undo", "run/undo:s1", "run/undo:s2"]:
        wrong.append(f"the compensation made {keys(place)}")
    return wrong + faults(place)


def coming_and_going(place: Place) -> list[str]:
    """4 processes open, transact and close, again and again: whoever closes last tidies the WAL away."""
    opened(place).close()

    def client(number: int) -> Said:
        said = set()
        for each in range(6):
            with opened(place) as mine:
                said.add(count(mine, f"{number}-{each}").code)
        return Said(",".join(sorted(said)))

    said = at_once([partial(client, number) for number in range(4)])
    wrong = [f"a client got {one.code}: {one.value}" for one in said if one.code != "committed"]
    if fold_of(place) != {"n": 24}:
        wrong.append(f"24 increments come to {fold_of(place)}")
    return wrong + faults(place)


_MANY = tuple(f"process {n}: {what}" for n in range(1, 7) for what in ("open", "transact"))

RACES: tuple[Race, ...] = (
    Race("ledger-clients-at-once", "6 processes transact at once", "The promise", clients_at_once, _MANY),
    Race("ledger-first-opens", "8 processes open a missing directory", "Recovery", first_opens, _MANY),
    Race("ledger-one-key", "8 processes retry one request", "a key has one effect", one_key, _MANY),
    Race("ledger-one-lost-answer", "4 processes retry a known request", "L1", one_lost_answer, _MANY),
    Race("ledger-one-step", "6 processes apply the same steps", "L2", one_step, _MANY),
    Race("ledger-one-compensation", "6 processes compensate the same", "L3", one_compensation, _MANY),
    Race(
        "ledger-coming-and-going",
        "4 processes open and close all the time",
        "Recovery",
        coming_and_going,
        _MANY,
    ),
)
