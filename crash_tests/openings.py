"""Directories and files that no store may be opened in, or used, because they are not its own.

The same promises as `processes`: each answers what was wrong, in words, and leaves nothing running.
"""

import os
import stat
from collections.abc import Callable

import impl
from crash_tests.children import HarnessError, Say, in_child
from crash_tests.races import Place, Race, Said, host, reserve
from crash_tests.scenarios import uuid_of
from impl import disk

SHARED = (0o755, 0o770, 0o701)


def shared_directory(place: Place) -> list[str]:
    """A directory that others may enter is refused and left as it is; so is a store's, shared afterwards."""
    wrong = []
    place.store.mkdir()
    for mode in SHARED:
        place.store.chmod(mode)
        wrong += _refused(place, f"a directory of mode {mode:04o}")
        if (now := stat.S_IMODE(place.store.stat().st_mode)) != mode:
            wrong.append(f"opening made mode {now:04o} of a directory of mode {mode:04o}")
        if left := sorted(entry.name for entry in place.store.iterdir()):
            wrong.append(f"opening left {left} in a directory of mode {mode:04o}")
    place.store.chmod(0o700)
    host(place).close()
    place.store.chmod(SHARED[0])
    wrong += _refused(place, "a store's directory that is shared by now")
    place.store.chmod(0o700)
    return wrong + place.faults()


def _refused(place: Place, what: str) -> list[str]:
    said = _opened(place)
    if (said.code, said.side_effects) == ("DURABILITY_FAILED", "none"):
        return []
    return [f"opening {what} got {said.code}, side effects {said.side_effects}"]


def _opened(place: Place) -> Said:
    try:
        host(place).close()
    except impl.CoordinatorError as error:
        return Said(error.code, error.message, error.side_effects)
    return Said("ok")


def files_of_another_user(place: Place) -> list[str]:
    """A process of another user uses nothing of a store, neither opened before nor anew."""
    with host(place) as mine:
        assert reserve(mine, 1).code == "ok"
        before = (place.store / "coordinator.json").read_bytes()
        wrong = [
            f"{what} of another user: {said.code}, side effects {said.side_effects}"
            for what, work in (("a call", lambda: reserve(mine, 2)), ("an opening", lambda: _opened(place)))
            if ((said := _as_another_user(work)).code, said.side_effects) != ("DURABILITY_FAILED", "none")
        ]
        if (place.store / "coordinator.json").read_bytes() != before:
            wrong.append("a process of another user changed the state")
        if (said := reserve(mine, 3)).code != "ok":
            wrong.append(f"afterwards its own user got {said}")
    if not wrong and set(place.rows()) != {uuid_of(1), uuid_of(3)}:
        wrong.append(f"the rows are {place.rows()}")
    return wrong + place.faults()


def _as_another_user(work: Callable[[], Said]) -> Said:
    """What `work` says in a child that takes itself for another user: no test can be sure of a real one."""

    def run(say: Say) -> None:
        own = os.geteuid()
        disk.own_uid = lambda: own + 1
        say(work().line())

    if not (end := in_child(run)).finished:
        raise HarnessError(f"a child as another user {end.describe()}")
    return Said.parse(end.said)


OPENINGS: tuple[Race, ...] = (
    Race(
        "shared-directory",
        "a directory that others may enter is opened",
        "C13",
        shared_directory,
        ("make the directory, mode 0755", "open"),
    ),
    Race(
        "files-of-another-user",
        "another user's process uses an open store",
        "C12",
        files_of_another_user,
        ("open", "reserve 1", "as another user: reserve 2", "as another user: open"),
    ),
)
