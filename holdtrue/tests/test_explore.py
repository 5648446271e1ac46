"""`holdtrue explore`: what it says, what it writes, and how it ends."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from holdtrue import cli, explore
from holdtrue.exits import Exit
from holdtrue.worlds import facets_of
from model.surroundings import ASSUMPTIONS

SMALL = ("explore", "--facet", "stages")


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str], str]:
    """The exit code, the lines on standard output, and what is on standard error."""
    code = cli.main(list(arguments))
    told = capsys.readouterr()
    return code, told.out.splitlines(), told.err


def test_a_facet_that_holds_is_told_with_its_size_and_every_property(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, lines, errors = ran(capsys, *SMALL)
    assert code == Exit.PASSED
    assert errors == ""
    assert lines[0] == "model        coordinator, stages: every way in which a run can stop"
    assert lines[-1].startswith("PASSED  ")
    heads = [line.split()[0] for line in lines if line]
    assert {"bounds", "worlds", "transitions", "depth", "actions", "outcomes", "CPU", "verdict"} <= set(heads)
    assert any("true-capacity: Each admitted run" in line and line.startswith("holds") for line in lines)
    assert any(line.startswith("not tested") and "S9: " in line for line in lines)
    assert max(map(len, lines)) <= 80


def test_a_dropped_assumption_shows_its_shortest_violation_as_differences(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, lines, _ = ran(
        capsys, "explore", "--facet", "lifecycle", "--ids", "1", "--drop", "abandon-is-final"
    )
    assert code == Exit.VIOLATED
    start = lines.index("  at first")
    assert lines[start - 2].startswith("broken: true-capacity: ")
    told = [line.strip() for line in lines[start:]]
    assert [line for line in told if line[:1].isdigit()] == [
        "1  reserve run-a @h1 alice on r1: accepted",
        "2  clock +1 ms: accepted",
        "3  open @h1: accepted",
        "4  admit on r1: accepted",
    ]
    assert "r1.state: reserved → expired" in told
    assert (
        lines[-2] == "again: holdtrue explore coordinator --facet lifecycle --ids 1 --drop abandon-is-final"
    )
    assert lines[-1].startswith("VIOLATED  true-capacity: 1 of ")


@pytest.mark.parametrize("assumption", ASSUMPTIONS)
def test_each_assumption_dropped_alone_shows_its_shortest_violation(
    capsys: pytest.CaptureFixture[str], assumption: str
) -> None:
    code, lines, _ = ran(capsys, "explore", "--drop", assumption)
    assert code == Exit.VIOLATED
    assert lines[0].startswith(f"model        coordinator, without {assumption}: not assumed: ")
    assert any(line.startswith("broken: true-capacity: ") for line in lines)
    assert lines[-1].startswith("VIOLATED  ")
    assert "true-capacity" in lines[-1]


def test_what_nothing_is_asked_of_is_said_to_be_seen(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines, _ = ran(capsys, "explore", "--facet", "damages", "--depth", "3")
    assert code == Exit.INCONCLUSIVE
    assert not any(line.startswith("verdict") for line in lines)


def test_a_bound_on_the_depth_leaves_it_inconclusive_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines, _ = ran(capsys, *SMALL, "--depth", "2")
    assert code == Exit.INCONCLUSIVE
    assert lines[-1].startswith(
        "INCONCLUSIVE  nothing found, but not all was seen: the bound of 2 transitions"
    )
    assert any(line.startswith("inconclusive") and "true-capacity" in line for line in lines)


@pytest.mark.parametrize(
    ("limit", "value"), [("--depth", "3"), ("--states", "20"), ("--memory", "1"), ("--time-budget", "0.01")]
)
def test_each_limit_is_named_where_it_ended_the_exploration(
    capsys: pytest.CaptureFixture[str], limit: str, value: str
) -> None:
    code, lines, _ = ran(capsys, "explore", "--facet", "lifecycle", limit, value)
    assert code == Exit.INCONCLUSIVE
    assert lines[-2] == f"for more: raise {limit}, or take smaller bounds"
    assert lines[-3].endswith(f"{limit} {value}")


def test_a_witness_that_is_never_seen_leaves_it_inconclusive(capsys: pytest.CaptureFixture[str]) -> None:
    """One id alone never contests a binding."""
    code, lines, _ = ran(capsys, "explore", "--facet", "lifecycle", "--ids", "1")
    assert code == Exit.INCONCLUSIVE
    assert "S8 is tested" in lines[-1]


def test_symmetry_is_left_out_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    facet = ("explore", "--facet", "lifecycle")
    _, reduced, _ = ran(capsys, *facet)
    _, full, _ = ran(capsys, *facet, "--without-symmetry")
    stands = next(line for line in reduced if line.startswith("worlds")).rpartition(" ")[2]
    assert next(line for line in full if line.startswith("worlds")).split() == ["worlds", stands]
    assert full[-1] == reduced[-1]


def test_the_ledger_is_explored_too(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines, _ = ran(capsys, "explore", "ledger", "--facet", "kinds")
    assert code == Exit.PASSED
    assert any("effect-at-most-once" in line for line in lines)


def test_the_facets_are_listed_and_each_of_them_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines, _ = ran(capsys, "explore", "--list")
    assert code == Exit.PASSED
    for system in ("coordinator", "ledger"):
        for name in facets_of(system):
            assert any(line.split()[:2] == [system, name] for line in lines)


def test_a_trace_and_a_graph_are_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    graph, trace = tmp_path / "g.svg", tmp_path / "t.itf.json"
    small = ("--facet", "lifecycle", "--ids", "1", "--drop", "abandon-is-final")
    code, lines, _ = ran(capsys, "explore", *small, "--graph", str(graph), "--itf", str(trace))
    assert code == Exit.VIOLATED
    assert f"written: {trace} (trace: true-capacity: violated)" in lines
    assert len(json.loads(trace.read_text("utf-8"))["states"]) == 5
    assert ElementTree.parse(graph).getroot().tag.endswith("svg")
    assert (tmp_path / "g.graphml").read_text("utf-8").startswith("<graphml")
    assert lines[-1].startswith("VIOLATED")


def test_a_trace_that_cant_be_written_takes_no_verdict_away(capsys: pytest.CaptureFixture[str]) -> None:
    """The disk is full, which shows only in the end."""
    code, lines, errors = ran(capsys, *SMALL, "--itf", "/dev/full")
    assert code == Exit.USAGE
    assert "--itf: '/dev/full' can't be written: No space left on device" in errors
    assert lines[-1].startswith("PASSED  ")


def test_without_a_violation_the_trace_leads_as_far_as_it_goes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    trace = tmp_path / "t.itf.json"
    code, lines, _ = ran(capsys, *SMALL, "--itf", str(trace))
    assert code == Exit.PASSED
    depth = int(next(line for line in lines if line.startswith("depth")).split()[1])
    assert len(json.loads(trace.read_text("utf-8"))["states"]) == depth + 1


def test_one_property_is_shown_by_its_trace(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    trace = tmp_path / "t.itf.json"
    name = "true-capacity is tested"
    code, lines, _ = ran(capsys, *SMALL, "--property", name, "--itf", str(trace))
    assert code == Exit.PASSED
    assert f"{name}: holds; All slots are held, one of them by a live run." in lines
    assert json.loads(trace.read_text("utf-8"))["#meta"]["description"] == f"{name}: holds"


def test_a_graph_that_is_too_large_to_look_at_is_said_to_be_and_the_verdict_stays(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, lines, errors = ran(capsys, "explore", "--facet", "lifecycle", "--graph", str(tmp_path / "g"))
    assert code == Exit.USAGE
    assert "are too many to be drawn, at most 300 are; the GraphML is written" in errors
    assert lines[-1].startswith("PASSED")
    assert [path.name for path in tmp_path.iterdir()] == ["g.graphml"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--facet", "nope"), "--facet 'nope': the coordinator has core, "),
        (("ledger", "--facet", "core"), "--facet 'core': the ledger has fields, "),
        (("ledger", "--ids", "2"), "--ids: only the coordinator's bounds can be changed"),
        (("ledger", "--drop", "files-stay"), "--drop: only the coordinator's bounds can be changed"),
        (("--drop", "files-stay", "--ids", "2"), "--drop files-stay: shows in a world of its own only"),
        (("--facet", "rollback", "--ids", "2"), "--facet rollback: its bounds can't be changed"),
        (("--drop", "gravity"), "--drop 'gravity': the assumptions are admits-under-grant, "),
        (("--graph", "/no/such/place"), "--graph '/no/such/place': there is no directory '/no/such'"),
        (("--itf", ""), "--itf '' names no file"),
        (("--itf", "."), "--itf '.' names no file"),
        (("--facet", "stages", "--property", "x"), "--property 'x': this world is asked for S1, "),
    ],
)
def test_what_can_not_be_done_as_asked_is_said_before_anything_is_explored(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str
) -> None:
    code, lines, errors = ran(capsys, "explore", *arguments)
    assert code == Exit.USAGE
    assert lines == []
    assert errors.startswith(f"holdtrue explore: {told}")


@pytest.mark.parametrize(
    "arguments",
    [("--ids", "0"), ("--ids", "9"), ("--ids", "٣"), ("--maxima", "1,x"), ("--depth", "-1"), ("nothing",)],
)
def test_nonsense_is_a_usage_error(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]) -> None:
    code, lines, errors = ran(capsys, "explore", *arguments)
    assert code == Exit.USAGE
    assert lines == []
    assert "holdtrue explore: error: " in errors


def test_the_command_that_is_told_does_the_same_again() -> None:
    from holdtrue.options import parser

    given = (
        "explore coordinator --facet lifecycle --ids 2 --maxima 1,2 --ttls 3 --depth 4 --time-budget 60.0 "
        "--property S8 --drop files-stay --drop proofs-true --memory 100 --without-symmetry"
    )
    asked = vars(parser().parse_args(given.split()))
    assert explore._again(asked) == f"holdtrue {given}"


def test_help_is_told_without_loading_the_explorer() -> None:
    code = (
        "import sys\nfrom holdtrue import cli\n"
        "assert cli.main(['explore', '--help']) == 0\n"
        "sys.exit(', '.join({'numpy', 'networkx', 'hypothesis', 'model'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
