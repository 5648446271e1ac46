"""The forge: it forks what it is asked to, tells how that ended, and never outlives its maker."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crash_tests.children import HarnessError, Say
from crash_tests.forge import Forge

ROOT = Path(__file__).resolve().parents[1]

KILLS_FOR_EVER = """
from crash_tests.campaign import Campaign, Reach
from crash_tests.scenarios import SCENARIOS
while True:
    Campaign(Reach()).run(SCENARIOS["reserve"])
    print("again", flush=True)
"""


def _echo_or_die(request: object, say: Say) -> None:
    if request == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    say(f"{os.getpid()} {request}".encode())


def test_each_request_is_done_by_a_fresh_child() -> None:
    with Forge(_echo_or_die) as forge:
        words = [forge.ask(request).said.decode().split() for request in ("one", "two")]
    assert [word for _, word in words] == ["one", "two"]
    assert len({pid for pid, _ in words} | {str(os.getpid())}) == 3


def test_a_killed_child_is_told_and_the_forge_goes_on() -> None:
    with Forge(_echo_or_die) as forge:
        assert forge.ask("die").killed
        assert forge.ask("live").finished


def test_a_forge_that_is_gone_is_a_failure_of_the_harness() -> None:
    def kills_its_parent(_request: object, _say: Say) -> None:
        os.kill(os.getppid(), signal.SIGKILL)

    forge = Forge(kills_its_parent)
    with pytest.raises(HarnessError, match="the forge"):
        forge.ask("anything")
    forge.close()


def test_nothing_is_left_running_when_a_campaign_is_killed(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", KILLS_FOR_EVER]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True, env=environment
    ) as campaign:
        assert campaign.stdout is not None
        assert campaign.stdout.readline() == b"again\n"
        campaign.kill()
    until = time.monotonic() + 10
    while _group_lives(campaign.pid):
        assert time.monotonic() < until, "a child of a killed campaign lives on"
        os.sched_yield()


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
