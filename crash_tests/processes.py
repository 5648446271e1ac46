"""Real processes at one store at once: they race for slots, for one binding, for one release, for ADMIT.

Each race runs in a fresh place and answers what was wrong, in words; nothing is left running when it
returns. Whatever the order in which the processes come, the same must hold: so a race that passes says
nothing of orders that did not come up this time.
"""

import json
from collections.abc import Callable
from functools import partial

import impl
from crash_tests.children import Child, Say, in_child
from crash_tests.races import (
    DAY_MS,
    SHORT_S,
    Gate,
    Place,
    Race,
    Said,
    admitted,
    ask,
    at_once,
    commit,
    gate,
    host,
    reserve,
    told,
)
from crash_tests.scenarios import uuid_of
from impl import disk


def for_slots(place: Place) -> list[str]:
    """32 processes race for 5 slots."""
    slots, racers = 5, 32
    host(place, maximum=slots).close()

    def racer(number: int) -> Said:
        with host(place, maximum=slots) as mine:
            return reserve(mine, number)

    said = at_once([partial(racer, number) for number in range(1, racers + 1)])
    codes = sorted(one.code for one in said)
    wanted = ["CAPACITY_EXCEEDED"] * (racers - slots) + ["ok"] * slots
    wrong = [] if codes == wanted else [f"of {racers} racing for {slots} slots: {told(said)}"]
    granted = {uuid_of(number) for number, one in enumerate(said, 1) if one.code == "ok"}
    if set(place.rows()) != granted:
        wrong.append(f"granted {sorted(granted)}, stored {sorted(place.rows())}")
    return wrong + place.faults()


def first_opens(place: Place) -> list[str]:
    """8 processes open a directory that is not there yet."""

    def opener() -> Said:
        with host(place):
            return Said("ok", str(place.durable()["instanceId"]))

    said = at_once([opener] * 8)
    wrong = [f"an opening was refused: {one.code}: {one.value}" for one in said if one.code != "ok"]
    if len({str(one.value) for one in said}) != 1:
        wrong.append(f"several stores were created: {sorted({str(one.value) for one in said})}")
    if place.actions() != ["initialize"]:
        wrong.append(f"the chain of a new store says {place.actions()}")
    return wrong + place.faults()


def for_one_binding(place: Place) -> list[str]:
    """6 processes commit their own reservation of one and the same run."""
    racers = range(1, 7)
    with host(place, maximum=6) as mine:
        for number in racers:
            admitted(place, mine, number, run=1)

    def racer(number: int) -> Said:
        with host(place, maximum=6) as mine:
            return commit(mine, number)

    codes = sorted(one.code for one in at_once([partial(racer, number) for number in racers]))
    states = sorted(place.rows().values())
    wrong = (
        [] if codes == ["ADMISSION_BINDING_CONFLICT"] * 5 + ["ok"] else [f"committing one binding: {codes}"]
    )
    if states != ["committed"] + ["reserved"] * 5:
        wrong.append(f"the rows of one binding: {states}")
    return wrong + place.faults()


def one_release(place: Place) -> list[str]:
    """8 processes retry one release."""
    with host(place) as mine:
        admitted(place, mine, 1)
        assert commit(mine, 1).code == "ok"
    place.project.end(uuid_of(1))

    def racer() -> Said:
        with host(place) as mine:
            return ask(mine, "normalRelease", {"id": uuid_of(1)})

    said = at_once([racer] * 8)
    wrong = [f"a retry was refused: {one.code}: {one.value}" for one in said if one.code != "ok"]
    answers = {json.dumps(one.value, sort_keys=True) for one in said}
    if len(answers) != 1:
        wrong.append(f"the retries got {len(answers)} different rows")
    if place.actions().count("normalRelease") != 1:
        wrong.append(f"released more than once: {place.actions()}")
    return wrong + place.faults()


def killed_before_commit(place: Place) -> list[str]:
    """A project admits; the host is killed before its commit is published; the time limit passes."""
    with host(place) as mine:
        for number in (1, 2, 3):
            admitted(place, mine, number)
    points = (
        disk.CrashPoint.LOCK_ACQUIRE_BEFORE,
        disk.CrashPoint.STATE_WRITE_TORN,
        disk.CrashPoint.STATE_RENAME_BEFORE,
    )
    wrong = []

    def commits(number: int, point: disk.CrashPoint, _: Say) -> None:
        with host(place) as mine:
            disk.install(disk.kill_at(point))
            commit(mine, number)

    for number, point in enumerate(points, 1):
        end = in_child(partial(commits, number, point))
        if not end.killed:
            wrong.append(f"the host was to be killed at {point}, but {end.describe()}")
    if set(place.rows().values()) != {"reserved"}:
        wrong.append(f"before the time limit: {place.rows()}")
    with host(place, shift_ms=DAY_MS) as later:
        ask(later, "snapshot", {})
    if list(place.rows().values()) != ["committed"] * 3:
        wrong.append(f"after the time limit: {place.rows()}")
    return wrong + place.faults()


def admit_against_abandon(place: Place) -> list[str]:
    """A project admits 8 runs while a host has the same 8 reservations abandoned."""
    racers = range(1, 9)
    with host(place, maximum=8) as mine:
        for number in racers:
            assert reserve(mine, number).code == "ok"

    def project() -> Said:
        decided = [place.project.admit({"reservationId": uuid_of(number)}) for number in reversed(racers)]
        return Said("ok", ",".join(reversed(decided)))

    def sweeper() -> Said:
        with host(place, maximum=8, shift_ms=DAY_MS) as mine:
            return ask(mine, "snapshot", {})

    admits, swept = at_once([project, sweeper])
    wrong = [] if swept.code == "ok" else [f"the sweep was refused: {swept.code}: {swept.value}"]
    decided = str(admits.value).split(",")
    wanted = ["committed" if what == "ADMIT" else "expired" for what in decided]
    states = [place.rows()[uuid_of(number)] for number in racers]
    if states != wanted:
        wrong.append(f"the project decided {decided}, the store says {states}")
    return wrong + place.faults()


def during_dispatch(place: Place) -> list[str]:
    """While a launch is being prepared, nobody else frees, takes or fences anything."""
    with host(place, maximum=1) as mine:
        admitted(place, mine, 1)
        assert commit(mine, 1).code == "ok"
    place.project.end(uuid_of(1))

    def dispatches(say: Say, barrier: Gate) -> None:
        def prepare(_row: object) -> Callable[[], str]:
            say(b"preparing\n")
            barrier.pass_through()
            return lambda: "launched"

        with host(place, maximum=1) as mine:
            say(ask(mine, "dispatch", {"id": uuid_of(1)}, prepare=prepare).line())

    wrong = []
    with (
        gate() as barrier,
        host(place, maximum=1, lock_timeout_s=SHORT_S) as other,
        Child(lambda say: dispatches(say, barrier)) as launcher,
    ):
        launcher.listen(b"preparing\n")
        before = (place.store / "coordinator.json").read_bytes()
        for said in (ask(other, "normalRelease", {"id": uuid_of(1)}), reserve(other, 2), _fence(place)):
            if (said.code, said.side_effects) != ("DURABILITY_FAILED", "none"):
                wrong.append(f"during preparation another process got {said}")
        if (place.store / "coordinator.json").read_bytes() != before:
            wrong.append("during preparation another process changed the state")
        barrier.open()
        launched = Said.parse(launcher.wait().said)
        if (launched.code, launched.value) != ("ok", "launched"):
            wrong.append(f"the dispatch got {launched}")
        if (said := reserve(other, 2)).code != "CAPACITY_EXCEEDED":
            wrong.append(f"after the launch its slot was granted again: {said}")
    return wrong + place.faults()


def _fence(place: Place) -> Said:
    """A newer host tries to take over."""
    try:
        with host(place, epoch=2, lock_timeout_s=SHORT_S):
            return Said("ok")
    except impl.CoordinatorError as error:
        return Said(error.code, error.message, error.side_effects)


_PREPARED = ("open", "reserve 1", "admit 1")

RACES: tuple[Race, ...] = (
    Race(
        "for-slots",
        "32 processes race for 5 slots",
        "S10",
        for_slots,
        ("open", *(f"process {n}: {what}" for n in range(1, 33) for what in ("open", f"reserve {n}"))),
    ),
    Race(
        "first-opens",
        "8 processes open a missing directory",
        "genesis",
        first_opens,
        tuple(f"process {n}: open" for n in range(1, 9)),
    ),
    Race(
        "for-one-binding",
        "6 processes commit one binding",
        "S8",
        for_one_binding,
        (
            "open",
            *(f"{what} {n}, for run 1" for n in range(1, 7) for what in ("reserve", "admit")),
            *(f"process {n}: {what}" for n in range(1, 7) for what in ("open", f"commit {n}")),
        ),
    ),
    Race(
        "one-release",
        "8 processes retry one release",
        "normalRelease",
        one_release,
        (
            *_PREPARED,
            "commit 1",
            "run 1 ends",
            *(f"process {n}: {what}" for n in range(1, 9) for what in ("open", "normalRelease 1")),
        ),
    ),
    Race(
        "killed-before-commit",
        "admitted, then the host is killed",
        "crash-matrix",
        killed_before_commit,
        (
            "open",
            *(f"{what} {n}" for n in (1, 2, 3) for what in ("reserve", "admit")),
            *(f"process {n}: {what}" for n in (1, 2, 3) for what in ("open", f"commit {n}", "killed")),
            "a day passes",
            "open",
            "snapshot",
        ),
    ),
    Race(
        "admit-against-abandon",
        "two processes decide about 8 runs",
        "sweep",
        admit_against_abandon,
        (
            "open",
            *(f"reserve {n}" for n in range(1, 9)),
            *(f"process 1: admit {n}" for n in range(1, 9)),
            "process 2: a day passes",
            "process 2: open",
            "process 2: snapshot",
        ),
    ),
    Race(
        "during-dispatch",
        "others while a launch is prepared",
        "dispatch",
        during_dispatch,
        (
            *_PREPARED,
            "commit 1",
            "run 1 ends",
            "process 1: dispatch 1, standing still while it prepares",
            "process 2: normalRelease 1",
            "process 2: reserve 2",
            "process 3: open with a newer epoch",
        ),
    ),
)
