"""A target that hangs, dies, floods, or answers nonsense or out of order is told as exactly that, in time."""

import json
import os
import resource
import select
import sys
import time
from pathlib import Path

import pytest

from stateful_tests.wire.conversation import Conversation
from stateful_tests.wire.faults import CLAUSES, TargetFaultError
from stateful_tests.wire.process import LONGEST_LINE, TargetProcess, argv_of

ROOT = Path(__file__).resolve().parents[2]
PATIENT_S = 30.0


def script(code: str, *, limit_s: float = PATIENT_S) -> Conversation:
    """A conversation with a few lines of Python."""
    head = "import json, os, signal, sys, time\n"
    return Conversation(TargetProcess([sys.executable, "-I", "-S", "-c", head + code], reply_limit_s=limit_s))


def fault_of(code: str, *, limit_s: float = PATIENT_S) -> TargetFaultError:
    """What is wrong with a target that does this at its first request."""
    talk = script(f"sys.stdin.readline()\n{code}", limit_s=limit_s)
    with pytest.raises(TargetFaultError) as raised:
        talk.ask({"do": "observe"})
    assert not talk.process.running
    assert gone(talk.process.pid)
    return raised.value


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def says(reply: object) -> str:
    return f"print({json.dumps(reply)!r}, flush=True)\nsys.stdin.readline()"


def test_one_that_answers_is_understood() -> None:
    talk = script(
        'for line in sys.stdin: print(json.dumps({"id": json.loads(line)["id"], "ok": 7}), flush=True)'
    )
    assert [talk.ask({"do": "observe"}).ok for _ in range(3)] == [7, 7, 7]
    talk.process.end()
    assert gone(talk.process.pid)


def test_one_that_hangs_is_told_so_within_the_limit() -> None:
    since = time.monotonic()
    fault = fault_of("signal.pause()", limit_s=0.2)
    assert fault.kind == "hung"
    assert "within 0.2 s" in fault.told
    assert time.monotonic() - since < PATIENT_S


def test_one_that_says_half_a_reply_hangs_too() -> None:
    assert (
        fault_of("sys.stdout.write('{\"id\": 1'); sys.stdout.flush(); signal.pause()", limit_s=0.2).kind
        == "hung"
    )


def test_one_that_dies_is_told_with_its_status_and_last_words() -> None:
    fault = fault_of("print('no more', file=sys.stderr); sys.exit(7)")
    assert fault.kind == "died"
    assert "exit status 7" in fault.told
    assert "no more" in fault.told


def test_one_that_is_killed_is_told_with_the_signal() -> None:
    fault = fault_of("os.kill(os.getpid(), signal.SIGSEGV)")
    assert (fault.kind, "SIGSEGV" in fault.told) == ("died", True)


def test_one_that_closes_its_output_but_runs_on_has_died_as_a_target() -> None:
    fault = fault_of("os.close(1); signal.pause()")
    assert fault.kind == "died"
    assert "though it runs" in fault.told


def test_one_that_floods_without_an_end_is_cut_off_with_bounded_memory() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fault = fault_of("while True: os.write(1, b'x' * 65536)")
    assert fault.kind == "flooded"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < 4 * LONGEST_LINE


def test_one_that_floods_its_standard_error_is_heard_all_the_same() -> None:
    talk = script(
        "for line in sys.stdin:\n"
        "  for _ in range(200): os.write(2, b'e' * 65536)\n"
        "  print(json.dumps({'id': json.loads(line)['id'], 'ok': 1}), flush=True)"
    )
    assert talk.ask({"do": "observe"}).ok == 1
    assert len(talk.process.last_words()) <= 16 * 1024
    talk.process.end()


def test_one_that_goes_on_writing_after_its_reply_floods() -> None:
    reply = json.dumps({"id": 1, "ok": None})
    fault = fault_of(f"os.write(1, b'{reply}\\n{reply}\\n'); signal.pause()")
    assert fault.kind == "flooded"
    assert "nobody had asked" in fault.told


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ([1], "no JSON object"),
        ({"id": 1}, "exactly one of ok and error"),
        ({"id": 1, "ok": 1, "error": None}, "exactly one of ok and error"),
        ({"id": 1, "ok": 1, "extra": 1}, "'extra'"),
        ({"id": 1, "error": "no"}, "code, message, side_effects"),
        ({"id": 1, "error": {"code": "", "message": "", "side_effects": "none"}}, "error.code"),
        ({"id": 1, "error": {"code": "A", "message": 1, "side_effects": "none"}}, "error.message"),
        ({"id": 1, "error": {"code": "A", "message": "", "side_effects": "some"}}, "side_effects"),
        ({"id": 1, "ok": 1, "struck": [0]}, "struck"),
        ({"id": 1, "ok": 1, "observation": 3}, "observation"),
    ],
)
def test_a_reply_of_the_wrong_shape_is_nonsense_and_says_where(reply: object, told: str) -> None:
    fault = fault_of(says(reply))
    assert fault.kind == "nonsense"
    assert told in fault.told


@pytest.mark.parametrize("text", ["Store opened.", "{'id': 1}", "", "[" * 100_000])
def test_a_line_that_is_no_json_is_nonsense(text: str) -> None:
    assert fault_of(f"print({text!r}, flush=True); signal.pause()").kind == "nonsense"


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ('{"id": 9, "ok": null, "id": 1}', "'id' stands twice"),
        ('{"id": 1, "ok": {"a": [{"b": 1, "b": 1}]}}', "'b' stands twice"),
        ('{"id": 1, "ok": NaN}', "NaN is no number"),
        ('{"id": 1, "ok": -Infinity}', "-Infinity is no number"),
        ('{"id": 1, "ok": ' + "[" * 101 + "]" * 101 + "}", "nested in more than 100"),
        ('{"id": 1, "ok": 1, "observation": ' + '{"a": ' * 101 + "1" + "}" * 101 + "}", "nested in more"),
    ],
)
def test_what_readers_take_differently_or_not_at_all_is_nonsense(reply: str, told: str) -> None:
    fault = fault_of(f"print({reply!r}, flush=True); signal.pause()")
    assert fault.kind == "nonsense"
    assert told in fault.told


@pytest.mark.parametrize("line", [b'{"id": 1, "ok": "\xff"}', '{"id": 1, "ok": 1}'.encode("utf-16")])
def test_a_line_that_is_no_utf_8_is_nonsense(line: bytes) -> None:
    assert fault_of(f"import os; os.write(1, {line!r} + b'\\n'); signal.pause()").kind == "nonsense"


def test_a_value_may_be_nested_and_have_many_parts() -> None:
    deep = "[" * 90 + "]" * 90
    wide = ", ".join("[{}]" for _ in range(500))
    line = f'{{"id": 1, "ok": [{deep}, {wide}]}}'
    talk = script(f"print({line!r}, flush=True); signal.pause()")
    told = talk.ask({"do": "observe"}).ok
    talk.process.kill()
    assert isinstance(told, list)
    assert len(told) == 501


@pytest.mark.parametrize("number", [2, 0, "1", None, True])
def test_a_reply_to_another_request_is_out_of_order(number: object) -> None:
    fault = fault_of(says({"id": number, "ok": None}))
    assert fault.kind == "out of order"
    assert "request 1" in fault.told


def test_one_that_reads_nothing_does_not_block_us() -> None:
    talk = script("signal.pause()", limit_s=0.3)
    with pytest.raises(TargetFaultError, match="hung"):
        talk.ask({"do": "call", "arguments": {"reason": "x" * 1_000_000}})


def test_one_that_can_not_be_started_is_told_so() -> None:
    with pytest.raises(TargetFaultError, match=r"not started: /nowhere/at-all: No such file"):
        TargetProcess(["/nowhere/at-all"], reply_limit_s=1.0)


def test_after_a_fault_nothing_more_can_be_asked() -> None:
    talk = script("sys.exit(3)")
    for _ in range(2):
        with pytest.raises(TargetFaultError, match="died"):
            talk.ask({"do": "observe"})


def test_the_end_of_input_ends_a_target_and_one_that_does_not_heed_it_is_killed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("stateful_tests.wire.process.GRACE_S", 0.1)
    for code in ("sys.stdin.read()", "while True: signal.pause()"):
        process = script(code).process
        process.end()
        assert gone(process.pid)


def test_what_holdtrue_gives_its_own_workers_is_not_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDTRUE_CRASH_AT", "state-rename-before")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("OF_THE_USER", "kept")
    talk = script(
        "asked = json.loads(sys.stdin.readline())\n"
        "print(json.dumps({'id': asked['id'], 'ok': dict(os.environ)}), flush=True)"
    )
    seen = talk.ask({"do": "observe"}).ok
    assert isinstance(seen, dict)
    assert seen["OF_THE_USER"] == "kept"
    assert not {"HOLDTRUE_CRASH_AT", "PYTHONPATH"} & seen.keys()
    talk.process.end()


def test_the_directory_takes_its_place_in_the_command() -> None:
    place = Path("/tmp/a b")
    assert argv_of("run 'x y' --at={directory} {directory}", place) == [
        "run",
        "x y",
        "--at=/tmp/a b",
        "/tmp/a b",
    ]
    assert argv_of("run", place) == ["run"]
    for text in ("", "  ", "run 'open"):
        with pytest.raises(ValueError, match=r"empty|quotation"):
            argv_of(text, place)


def test_every_fault_has_a_clause_and_stands_in_the_page() -> None:
    page = (ROOT / "docs" / "protocol.md").read_text("utf-8")
    for kind in CLAUSES:
        assert f"| {kind} |" in page or kind == "not started"


ECHO = 'for line in sys.stdin: print(json.dumps({"id": json.loads(line)["id"], "ok": 7}), flush=True)'


def test_one_that_was_stopped_says_nothing_until_it_is_woken_and_then_all() -> None:
    talk = script(ECHO)
    talk.ask({"do": "observe"})
    talk.process.stand_still()
    talk.send({"do": "observe"})
    assert not talk.process.listen()
    talk.process.go_on()
    assert talk.receive("observe").ok == 7
    talk.process.stand_still()
    talk.process.kill()
    assert gone(talk.process.pid)


def test_one_is_listened_to_without_waiting_and_what_it_said_is_kept() -> None:
    talk = script(f"sys.stdin.readline(); os.close(2)\n{says({'id': 1, 'ok': 8})}")
    talk.send({"do": "observe"})
    while not talk.process.listen():
        select.select(talk.process.outlets, [], [], PATIENT_S)
    assert talk.receive("observe").ok == 8
    assert len(talk.process.outlets) == 1
    talk.process.kill()
    assert talk.process.listen()


def test_one_that_has_ended_can_be_listened_to_stopped_and_woken() -> None:
    talk = script("")
    with pytest.raises(TargetFaultError):
        talk.ask({"do": "observe"})
    talk.process.stand_still()
    talk.process.go_on()
    assert talk.process.listen()
