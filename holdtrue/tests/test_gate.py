"""`holdtrue gate`: from a folder and a policy to an exit code, alone and under GitHub Actions."""

import io
import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from holdtrue.cli import main
from holdtrue.exits import UsageError
from holdtrue.gate import gate, read_policy, whole_check
from holdtrue.out import Printer
from holdtrue.phases import OF_A_TARGET, PHASES
from holdtrue.tests.planted import SOUND, run
from reports.consistency import unaccounted
from reports.tests.examples import Example, hostile, inconclusive, passed, violated
from reports.tests.samples import phase

SUPPRESS = """
[[suppress]]
property = "{}"
owner = "jo"
reason = "why"
expires = 2030-06-01
"""


def folder(place: Path, example: Example) -> Path:
    """A run's folder with what the gate reads."""
    place.mkdir()
    (place / "results.json").write_text(json.dumps(whole(example.results)), encoding="utf-8")
    for name, trace in example.traces.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(json.dumps(trace), encoding="utf-8")
    return place


def whole(results: Mapping[str, Any]) -> dict[str, Any]:
    """`results` with the phases of a whole check that they say nothing of; the examples have but a few."""
    missing = unaccounted(results, [each.name for each in PHASES])
    return {**results, "phases": [*results["phases"], *(phase(name, details={}) for name in missing)]}


def decided(
    run: Path,
    *,
    policy: str | None = None,
    against: Path | None = None,
    environment: Mapping[str, str] | None = None,
    today: date = date(2030, 6, 1),
) -> tuple[int, list[str]]:
    file = None
    if policy is not None:
        file = str(run.parent / "policy.toml")
        Path(file).write_text(f"schema_version = 1\n{policy}", encoding="utf-8")
    stream = io.StringIO()
    code = gate(
        str(run),
        Printer(stream),
        against=None if against is None else str(against),
        policy=file,
        today=today,
        environment=environment or {},
    )
    return code, stream.getvalue().splitlines()


@pytest.mark.parametrize(
    ("example", "code", "word"),
    [(passed(), 0, "ACCEPTED"), (violated(), 1, "REFUSED"), (inconclusive(), 3, "UNDECIDED")],
    ids=["passed", "violated", "inconclusive"],
)
def test_the_last_line_is_the_decision(example: Example, code: int, word: str, tmp_path: Path) -> None:
    ended, lines = decided(folder(tmp_path / "run", example))
    assert ended == code
    assert lines[-1].startswith(f"{word}  ")
    assert not any(line.startswith("::") for line in lines)


def test_a_suppression_lets_a_run_pass_until_it_expires(tmp_path: Path) -> None:
    place = folder(tmp_path / "run", violated())
    policy = "".join(SUPPRESS.format(name) for name in ("C6", "Operations", "what it answers"))
    assert decided(place, policy=policy)[0] == 0
    assert decided(place, policy=policy, today=date(2030, 6, 2))[0] == 1


def test_an_older_run_is_compared(tmp_path: Path) -> None:
    old, new = folder(tmp_path / "old", passed()), folder(tmp_path / "new", violated())
    _, lines = decided(new, against=old)
    assert "Changed since the older run" in lines
    assert any(line.startswith("- new: C6: ") for line in lines)


def test_a_policy_that_can_not_be_used_decides_nothing(tmp_path: Path) -> None:
    place = folder(tmp_path / "run", passed())
    with pytest.raises(UsageError, match=r"policy.toml: floor \(line 2\): no such key"):
        decided(place, policy="floor = 3")
    for bad, why in ((tmp_path / "missing", "there is no such file"), (tmp_path, "it is no regular file")):
        with pytest.raises(UsageError, match=why):
            gate(
                str(place),
                Printer(io.StringIO()),
                against=None,
                policy=str(bad),
                today=date.max,
                environment={},
            )
    (tmp_path / "latin").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="no UTF-8"):
        gate(
            str(place),
            Printer(io.StringIO()),
            against=None,
            policy=str(tmp_path / "latin"),
            today=date.max,
            environment={},
        )


@pytest.mark.parametrize("which", ["the run", "the older run"])
def test_results_that_say_two_things_decide_nothing(which: str, tmp_path: Path) -> None:
    """The last of two verdicts counts for Python, and another reader may take the first."""
    good, bad = folder(tmp_path / "good", passed()), folder(tmp_path / "bad", passed())
    text = (bad / "results.json").read_text("utf-8")
    wrong = text.replace('"word": "PASSED"', '"word": "VIOLATED", "word": "PASSED"', 1)
    assert wrong != text
    (bad / "results.json").write_text(wrong, encoding="utf-8")
    run, against = (bad, None) if which == "the run" else (good, bad)
    with pytest.raises(UsageError, match=r"bad/results\.json' is broken: the key 'word' stands twice"):
        decided(run, against=against)


def test_under_github_it_annotates_and_summarizes(tmp_path: Path) -> None:
    place, summary = folder(tmp_path / "run", violated()), tmp_path / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    given = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    code, lines = decided(place, environment=given)
    assert code == 1
    commands = [line for line in lines if line.startswith("::")]
    assert lines[-1].startswith("REFUSED")
    assert commands[0].startswith(
        "::error title=holdtrue%3A violated,file=reports/out/20300101T120000Z-1a2b3c/traces/"
    )
    told = summary.read_text("utf-8")
    assert told.startswith("before\n## ❌ Gate: refused\n")
    assert "VIOLATED" in told
    summary.unlink()
    decided(place, environment=given, policy=SUPPRESS.format("C6"))
    assert "property C6" in summary.read_text("utf-8").partition("# ")[2]


def test_a_summary_that_can_not_be_written_changes_no_decision(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = folder(tmp_path / "run", passed())
    given = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path)}
    assert decided(place, environment=given)[0] == 0
    assert "summary can't be written" in capsys.readouterr().err
    assert decided(place, environment={"GITHUB_ACTIONS": "true"})[0] == 0


def test_nothing_that_a_run_quotes_is_a_command_to_the_runner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    evil: dict[str, Any] = {**hostile().results, "left_out": ["::error::mine", "##[error]mine"]}
    place = folder(tmp_path / "run", Example(evil, {}))
    _, lines = decided(place)
    assert not any(line.strip().startswith("::") or "##[" in line for line in lines)
    stream = io.StringIO()
    printer = Printer(stream)
    for line in ("::error::mine", "  ::x::", "a ##[error]mine", "a :: b", "std::vector", "x\n::error::y"):
        printer.line(line)
    assert stream.getvalue().splitlines() == [
        r"\x3a:error::mine",
        r"  \x3a:x::",
        r"a #\x23[error]mine",
        "a :: b",
        "std::vector",
        "x",
        r"\x3a:error::y",
    ]


@pytest.mark.parametrize(
    "words", [["gate", "##[error]mine"], ["##[error]mine"], ["replay", "::error::\n::x"]]
)
def test_nothing_that_was_typed_is_a_command_to_the_runner(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert main(words) == 2
    told = capsys.readouterr().err
    assert "mine" in told or "error" in told
    assert not any(line.strip().startswith("::") or "##[" in line for line in told.splitlines())


def test_from_the_command_line(tmp_path: Path) -> None:
    folder(tmp_path / "run", violated())
    ended = run(SOUND, "gate", "run", cwd=tmp_path)
    assert (ended.returncode, ended.stdout.splitlines()[-1]) == (1, "REFUSED  run: 3 reasons"), ended.stderr
    assert run(SOUND, "gate", "nothing", cwd=tmp_path).returncode == 2
    assert "docs/ci.md" in run(SOUND, "gate", "--help", cwd=tmp_path).stdout


def test_a_report_lists_what_a_policy_suppresses(tmp_path: Path) -> None:
    folder(tmp_path / "run", violated())
    text = f"schema_version = 1\n{SUPPRESS.format('C6')}"
    (tmp_path / "policy.toml").write_text(text, encoding="utf-8")
    asked = ("report", "run", "--format", "html", "--policy", "policy.toml")
    ended = run(SOUND, *asked, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "property C6" in ended.stdout
    assert "2030-06-01" in ended.stdout
    assert "property C6" not in run(SOUND, *asked[:4], cwd=tmp_path).stdout
    (tmp_path / "policy.toml").write_text("x", encoding="utf-8")
    assert run(SOUND, *asked, cwd=tmp_path).returncode == 2


def test_a_run_of_which_phases_are_missing_is_undecided_though_it_says_that_nothing_was_left_out(
    tmp_path: Path,
) -> None:
    place = folder(tmp_path / "run", passed())
    (place / "results.json").write_text(json.dumps(passed().results), encoding="utf-8")
    code, lines = decided(place)
    assert code == 3
    assert "neither there nor said to be left out: corpus, exploration" in " ".join(
        line.strip() for line in lines
    )
    assert decided(place, policy="require.whole = false")[0] == 0


def test_a_check_of_a_target_has_the_phases_that_the_gate_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    from holdtrue import aimed

    greeting = SimpleNamespace(name="a", version="1", capabilities=())
    monkeypatch.setattr(aimed, "greeted", lambda _: greeting)
    asked = {"target": "x {directory}"}
    names = tuple(each.name for each in aimed.phases_of(asked, Printer(io.StringIO())))
    told = {"target": [{"command": "x", "policy": {"code": [], "missing": [], "field": []}}]}
    results = {"phases": [phase("kills", details=told)], "environment": {}}
    assert names == OF_A_TARGET == whole_check(results)


def test_a_run_of_version_1_is_decided_upon_though_it_does_not_say_what_was_typed(tmp_path: Path) -> None:
    now = whole(passed().results)
    later = ("code", "properties", "explorations", "detection", "suppressions", "flakes", "skips", "details")
    old = {name: value for name, value in now.items() if name not in later}
    old["phases"] = [
        {name: value for name, value in one.items() if name not in later} for one in now["phases"]
    ]
    old |= {"schema_version": 1, "environment": {"workers": 2}}
    place = folder(tmp_path / "run", passed())
    old["phases"] = [one for one in old["phases"] if one["name"] != "exploration"]  # there was none then
    (place / "results.json").write_text(json.dumps(old), encoding="utf-8")
    code, lines = decided(place)
    assert code == 3
    assert "said to be left out: exploration" in " ".join(line.strip() for line in lines)
    assert decided(place, policy="require.whole = false")[0] == 0


def test_a_policy_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_bytes(b"\xef\xbb\xbfschema_version = 1\nrequire.whole = false\n")
    assert not read_policy(str(tmp_path / "policy.toml")).whole
