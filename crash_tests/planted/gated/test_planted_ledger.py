"""Each fault planted in the ledger-gated store is caught in a short story; the sound one sets nothing off."""

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from crash_tests.planted.gated.catalogue import BY_ID, FAULTS
from crash_tests.planted.gated.hunt import WAYS
from crash_tests.planted.hunt import SOUND
from crash_tests.planted.plant import Fault, changed_source

LONGEST = 8
"""No catch may be told in more actions than this."""

LIMIT_S = 600.0
"""On a busy machine: most hunts take a second or two."""

WALKS_ALONE = (
    "retry-appended-twice",
    "l1-retry-matched-by-its-event-hash",
    "l2-started-step-runs-again",
    "l6-not-caught-up",
    "failed-fsync-retried-and-believed",
    "compensators-in-forward-order",
)
KILLS_ALONE = (
    "commit-before-append",
    "half-built-mirrors-stay",
    "mirror-built-in-its-place",
    "opening-does-not-catch-up",
)


def hunted(fault: str, *arguments: str) -> dict[str, Any] | None:
    """What a hunt in a process of its own prints."""
    command = [sys.executable, "-m", "crash_tests.planted.gated.hunt", fault, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] | None = json.loads(ended.stdout)
    return found


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_a_planted_fault_is_caught_in_eight_actions_at_most(fault: Fault) -> None:
    caught = hunted(fault.id)
    assert caught is not None, f"nothing catches: {fault.sentence}"
    assert caught["actions"] <= LONGEST, caught["trace"]


@pytest.mark.parametrize(
    ("way", "name"),
    [*(("walk", name) for name in WALKS_ALONE), *(("kill", name) for name in KILLS_ALONE)],
)
def test_no_pinned_trace_is_needed(way: str, name: str) -> None:
    assert hunted(name, "--only", way) is not None


def test_the_same_hunt_finds_nothing_in_the_sound_store() -> None:
    assert hunted(SOUND) is None


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_a_fault_fits_the_source_and_still_compiles(fault: Fault) -> None:
    for module in dict.fromkeys(change.module for change in fault.changes):
        spec = find_spec(module)
        assert spec is not None
        assert spec.origin is not None
        source = Path(spec.origin).read_text(encoding="utf-8")
        for change in fault.changes:
            if change.module == module:
                source = changed_source(change, source)
        compile(source, module, "exec", dont_inherit=True)


def test_the_catalogue_has_no_id_twice_and_undoes_every_fix() -> None:
    assert len(BY_ID) == len(FAULTS)
    undone = {found[0] for fault in FAULTS if (found := re.match(r"l\d+(?=-)", fault.id))}
    assert undone == {f"l{number}" for number in range(1, 7)}


def test_the_ways_of_a_hunt_are_those_of_the_checks() -> None:
    from crash_tests.planted.gated.chase import NAMES

    assert tuple(NAMES.values()) == WAYS
