"""Passed means checked enough; a violation outweighs all else; the last line names its scope."""

from datetime import UTC, datetime

import pytest
from attrs import evolve

from holdtrue.exits import Exit
from holdtrue.pool import Lost, Why
from holdtrue.record import Found, PhaseRecord, Record, worst_first
from holdtrue.tests.fakes import job
from holdtrue.verdict import Verdict, judge
from model.values import JSON
from stateful_tests.results import Failure, JobResult, Plan

DONE = JobResult(job("fine"), {"rule/reserve/accepted": 1200, "kill/reserve/x": 30})
FAILURE = Failure({"steps": [1, 2]}, "title", "S10", "again")


def phase(**changes: object) -> PhaseRecord:
    made = PhaseRecord("kills", "about", Plan((job("fine"),), {}), {0: DONE})
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def record(*phases: PhaseRecord, **changes: object) -> Record:
    made = Record("quick", 7, (), None, datetime(2030, 1, 1, tzinfo=UTC), {}, {}, phases=list(phases))
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def test_a_whole_run_without_findings_has_passed() -> None:
    verdict = judge(record(phase()))
    assert (verdict.exit, verdict.reasons) == (Exit.PASSED, ())
    assert verdict.line == "PASSED  quick, seed 7: 1 job, 1,200 actions, 30 kills"


def test_a_partial_run_can_pass_but_says_of_what_it_speaks() -> None:
    verdict = judge(record(phase(), left_out=("corpus",)))
    assert verdict.exit is Exit.PASSED
    assert verdict.line.startswith("PASSED  only kills; quick, seed 7:")


def test_a_target_that_passes_says_how_much_was_declared_and_out_of_reach() -> None:
    missing: JSON = [{"operation": "renew", "reason": "never"}]
    told: JSON = {"command": "mine {directory}", "policy": {"code": [], "missing": missing, "field": []}}
    counts = {"rule/reserve/accepted": 1200, "beyond/pinned traces": 31, "beyond/several hosts at once": 4}
    done = JobResult(job("fine"), counts, details={"target": told})
    verdict = judge(record(phase(results={0: done})))
    assert verdict.line == (
        "PASSED  quick, seed 7: 1 job, 1,200 actions: 1 deviation declared, 31 pinned traces and 1 other "
        "thing out of reach (each is named under Not checked)"
    )
    assert verdict.reasons == ()
    rare = judge(record(phase(results={0: done}, plan=Plan((job("fine"),), {"witness/S8": 1}))))
    assert "declared" not in rare.line


def test_a_count_below_its_floor_is_inconclusive() -> None:
    verdict = judge(record(phase(plan=Plan((job("fine"),), {"witness/S8": 1, "kill/reserve/x": 31}))))
    assert verdict.exit is Exit.INCONCLUSIVE
    assert verdict.reasons == ("kills: seen too rarely: kill/reserve/x 30/31, witness/S8 0/1",)


def test_a_count_at_its_floor_is_enough() -> None:
    assert judge(record(phase(plan=Plan((job("fine"),), {"kill/reserve/x": 30})))).exit is Exit.PASSED


def test_an_empty_plan_is_inconclusive() -> None:
    assert judge(record(phase(plan=Plan(()), results={}))).exit is Exit.INCONCLUSIVE


def test_jobs_cut_by_the_time_budget_make_it_inconclusive() -> None:
    assert judge(record(phase(out_of_time=1, results={}))).exit is Exit.INCONCLUSIVE
    assert judge(record(phase(), not_begun=("invariants",))).reasons == ("not begun: invariants",)


def test_a_lost_job_is_a_failure_of_the_harness_not_of_the_store() -> None:
    verdict = judge(record(phase(lost={1: Lost(job("dies"), Why.DIED, "killed", "")})))
    assert (verdict.word, verdict.exit) == ("HARNESS FAILED", Exit.HARNESS_FAILED)


def test_a_violation_outweighs_lost_jobs_and_floors_and_tells_them_too() -> None:
    lost = {1: Lost(job("dies"), Why.DIED, "killed", "")}
    found = [Found("kills", FAILURE, "traces/1.json")]
    verdict = judge(record(phase(lost=lost, out_of_time=3), found=found))
    assert verdict.exit is Exit.VIOLATED
    assert [reason.split()[0] for reason in verdict.reasons] == ["1", "kills:", "kills:"]


def test_an_interrupted_run_says_so_and_what_it_had_found() -> None:
    verdict = judge(record(phase(), interrupted=True, found=[Found("kills", FAILURE, "t")]))
    assert (verdict.word, verdict.exit) == ("INTERRUPTED", Exit.INTERRUPTED)
    assert "1 counterexample to 'S10'" in verdict.line


def test_floors_that_a_cut_phase_missed_are_reasons_but_no_news() -> None:
    cut = phase(out_of_time=1, results={}, plan=Plan((job("fine"),), {"witness/S8": 1}))
    verdict = judge(record(cut))
    assert verdict.reasons == (
        "kills: the time budget cut 1 of 1 jobs",
        "kills: seen too rarely: witness/S8 0/1",
    )
    assert "seen too rarely" not in verdict.line
    assert judge(record(cut, interrupted=True, not_begun=("invariants",))).line.count("witness") == 0


def test_a_folder_that_could_not_be_written_keeps_a_run_from_passing() -> None:
    verdict = judge(record(phase(), unwritable="out can't be written: full"))
    assert (verdict.exit, verdict.reasons) == (Exit.HARNESS_FAILED, ("out can't be written: full",))


def test_no_measured_figure_is_part_of_a_verdict() -> None:
    def verdict(ratio: float) -> Verdict:
        figures = {"kill trials / bare fork + SIGKILL + wait": ratio}
        return judge(record(phase(results={0: evolve(DONE, figures=figures)})))

    assert verdict(0.19) == verdict(0.2) == judge(record(phase()))


@pytest.mark.parametrize(
    ("said", "code"),
    [("holds", Exit.PASSED), ("inconclusive", Exit.INCONCLUSIVE), ("violated", Exit.VIOLATED)],
)
def test_what_an_exploration_says_counts(said: str, code: Exit) -> None:
    space: JSON = [{"system": "coordinator", "space": "core", "verdict": said, "reason": "out of states"}]
    verdict = judge(record(phase(results={0: evolve(DONE, details={"explorations": space})})))
    assert verdict.exit is code
    told = () if said == "holds" else (f"exploration of coordinator/core: {said}: out of states",)
    assert verdict.reasons == told


def test_the_worst_failure_is_a_kills_and_among_equals_the_shortest() -> None:
    short = Failure({"steps": [1]}, "title", "S10", "again")
    found = [
        Found("corpus", short, "a"),
        Found("kills", FAILURE, "b"),
        Found("conformance", short, "c"),
        Found("kills", short, "d"),
    ]
    assert [one.file for one in sorted(found, key=worst_first)] == ["d", "b", "c", "a"]


def test_of_a_race_only_that_it_went_wrong_stands_in_the_results() -> None:
    """What it says holds times, which would make each run's results differ."""
    wrong = ["granted again: {'reservedExpiresAt': 1796051998741}"]
    trace: JSON = {
        "kind": "kill",
        "trial": "race",
        "name": "for-slots",
        "clause": "S10",
        "wrong": list(wrong),
    }
    found = Found("kills", Failure(trace, f"for-slots: {wrong[0]}", "S10", "again"), "a").to_json()
    assert found["title"] == "for-slots: a race of real processes went wrong"
    assert (found["property"], found["clause"]) == ("S10", "S10")
