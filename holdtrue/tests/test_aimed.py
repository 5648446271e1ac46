"""`check --target`, `replay --target` and `serve`, from the command line to the exit code."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from crash_tests.wire.needed import program
from holdtrue.tests.processes import ROOT, wait_until_gone
from stateful_tests.wire.fakes import fake
from stateful_tests.wire.rates import own_store
from stateful_tests.wire.test_orphans import pids_in

HOLDTRUE = [sys.executable, "-m", "holdtrue"]
PYTHON = shlex.join([sys.executable, "docs/examples/python/target.py"]) + " {directory}"
POLICY = "docs/examples/python/policy.toml"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*HOLDTRUE, *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def checked(tmp_path: Path, command: str, *more: str) -> subprocess.CompletedProcess[str]:
    return run("check", "--target", command, "--out", str(tmp_path / "out"), "--jobs", "2", *more)


def test_our_own_store_passes_over_the_wire_and_the_report_says_what_was_out_of_reach(tmp_path: Path) -> None:
    done = checked(tmp_path, own_store().text, "--only", "corpus")
    assert done.stderr == ""
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "target: holdtrue 0"
    assert done.stdout.splitlines()[-1].startswith("PASSED  only corpus; quick, seed 0")
    beyond = "Out of the target's reach: damage to the files, states put back, leftover files (left out "
    assert beyond in " ".join(done.stdout.partition("Not checked")[2].split())
    (page,) = (tmp_path / "out").glob("2*/summary.md")
    assert beyond in page.read_text("utf-8").replace("\\", "")


def test_a_violation_ends_with_a_command_that_shows_it_again_and_says_fixed_once_mended(
    tmp_path: Path,
) -> None:
    done = checked(tmp_path, f"{PYTHON} --only below-held", "--policy", POLICY, "--only", "corpus")
    assert done.returncode == 1
    assert "Declared by the target's owner: no dispatch (left out " in " ".join(done.stdout.split())
    found = re.search(r"^reproduce:  (.*)$", done.stdout, re.M)
    assert found is not None
    words = shlex.split(found[1])
    assert words[-4:] == ["--target", f"{PYTHON} --only below-held", "--policy", POLICY]
    again = run(*words[words.index("replay") :])
    assert again.returncode == 1
    assert again.stdout.splitlines()[-1].startswith("STILL FAILING  ")
    trace = next(word for word in words if word.endswith(".json"))
    mended = run("replay", trace, "--target", f"{PYTHON} --mended", "--policy", POLICY)
    assert mended.returncode == 0
    assert mended.stdout.splitlines()[-1].startswith("FIXED  ")
    ours = run("replay", trace)
    assert ours.returncode == 2
    assert "it was recorded of a target; name that with --target" in ours.stderr


def test_what_is_declared_is_listed_with_its_reason_and_is_no_violation(tmp_path: Path) -> None:
    done = checked(tmp_path, f"{PYTHON} --mended", "--policy", POLICY, "--only", "corpus")
    assert done.returncode == 0, done.stdout
    told = " ".join(done.stdout.partition("Not checked")[2].split())
    owner = "Declared by the target's owner:"
    assert re.search(rf"{owner} reserve: NO_SLOT for CAPACITY_EXCEEDED \(met \d+ times\): clients of", told)
    assert re.search(rf"{owner} no renew \(left out \d+ times\): runs are admitted", told)
    assert f"{owner} rows without updatedAt: nobody reads it" in told


def test_the_same_store_without_its_policy_is_violated(tmp_path: Path) -> None:
    done = checked(tmp_path, f"{PYTHON} --mended", "--only", "corpus")
    assert done.returncode == 1


def test_a_target_that_hangs_in_the_middle_is_a_violation_that_says_so(tmp_path: Path) -> None:
    done = checked(tmp_path, fake("hangs").text, "--only", "corpus", "--reply-limit", "3")
    assert done.returncode == 1
    assert "protocol: each request is answered in time" in done.stdout
    assert "CRASHED: hung:" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--target", ""), "--target '' is no command line: the command is empty"),
        (("--target", "x 'y"), "is no command line: No closing quotation"),
        (("--target", "/no/such/command"), "not started: /no/such/command: No such file or directory"),
        (("--target", "true"), "died: it ended by itself, with exit status 0"),
        (("--target", "cat"), "nonsense: in reply to hello"),
        (("--target", "echo hello"), "nonsense: in reply to hello, request 1: no JSON"),
        (("--target", "sleep 60", "--reply-limit", "0.5"), "hung: no whole reply within 0.5 s"),
        (("--target", fake("of-the-future").text), "hello.protocol: 99, and this checker speaks 1"),
        (("--target", fake("boasts").text), "hello.capabilities: unknown field 'telepathy'"),
        (("--target", "cat", "--policy", "no-such.toml"), "no-such.toml: the policy can't be opened"),
        (("--target", "cat", "--only", "invariants"), "--only invariants: a target is checked in the phases"),
        (("--policy", "x.toml"), "--policy goes with --target"),
        (("--reply-limit", "3"), "--reply-limit goes with --target"),
        (("--target", "cat", "--reply-limit", "-1"), "'-1' is not a number of seconds above 0"),
    ],
)
def test_what_can_not_be_asked_is_a_usage_error_that_says_why(
    tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    done = run("check", *arguments, "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_kill_of_our_own_store_is_not_replayed_on_a_target_nor_the_other_way_round(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"kind": "kill", "trial": "kill"}), "utf-8")
    done = run("replay", str(trace), "--target", "cat")
    assert (done.returncode, "without --target" in done.stderr) == (2, True)
    trace.write_text(json.dumps({"kind": "kill", "trial": "wire"}), "utf-8")
    done = run("replay", str(trace))
    assert (done.returncode, "--target 'COMMAND {directory}'" in done.stderr) == (2, True)


def test_a_race_of_a_target_is_told_step_by_step_and_refused_where_it_can_not_be_run(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    form = {"kind": "kill", "trial": "race", "schema_version": 1, "name": "for-slots", "style": "at once"}
    trace.write_text(json.dumps({**form, "clause": "S10", "versions": {"target": "x"}}), "utf-8")
    done = run("replay", str(trace), "--target", fake("unlocked").text)
    assert (done.returncode, done.stderr) == (1, "")
    assert re.search(r"^\d+ +process 8: reserve 8: (ok|[A-Z_]+)", done.stdout, re.M)
    assert re.search(
        r"^STILL FAILING  for-slots: in round \d+: 8 processes race for 3 slots: ", done.stdout, re.M
    )
    alone = run("replay", str(trace), "--target", fake("alone").text)
    assert alone.returncode == 2
    assert "can't be sent into the race for-slots" in alone.stderr
    ours = run("replay", str(trace))
    assert (ours.returncode, "name that with --target" in ours.stderr) == (2, True)


def test_a_check_that_is_killed_leaves_no_target_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDTRUE_FAKE_CHILD", str(tmp_path / "pids"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # a check that is killed leaves its scratch folder behind
    command = [*HOLDTRUE, "check", "--target", fake("bears", 60).text, "--reply-limit", "60", "--jobs", "1"]
    check = subprocess.Popen(
        [*command, "--only", "corpus", "--out", str(tmp_path / "out")],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    pids = pids_in(tmp_path / "pids", 60)
    os.kill(check.pid, signal.SIGKILL)
    check.wait()
    wait_until_gone(*pids)


def test_serve_speaks_the_protocol_on_its_standard_streams(tmp_path: Path) -> None:
    done = subprocess.run(
        [*HOLDTRUE, "serve", str(tmp_path / "store")],
        cwd=ROOT,
        input='{"id": 1, "do": "hello", "protocol": 1}\n',
        capture_output=True,
        text=True,
        check=True,
    )
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["hello"]["name"] == "holdtrue"
    assert run("serve", "").returncode == 2


def test_the_pages_first_adapter_is_greeted_and_found_to_open_no_store(tmp_path: Path) -> None:
    program("node")
    page = (ROOT / "docs" / "your-own-store.md").read_text("utf-8")
    (script,) = re.findall(r"```js\n(.*?)```", page, re.S)
    (tmp_path / "mine.js").write_text(script, "utf-8")
    command = f"node {shlex.quote(str(tmp_path / 'mine.js'))} {{directory}}"
    done = checked(tmp_path, command, "--only", "corpus")
    assert done.returncode == 1
    assert "in reply to begin, request 2: it was refused with UNKNOWN_REQUEST" in " ".join(
        done.stdout.split()
    )
