"""No job is lost silently, whatever its worker does, and no process outlives the pool."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdtrue.pool import LOST_LIMIT, Limits, Lost, Outcome, Why, run_jobs
from holdtrue.tests.fakes import job
from holdtrue.tests.processes import wait_until_gone
from stateful_tests.results import Job, JobResult

FAR = Limits(60.0)


def ran(*jobs: Job, limits: Limits = FAR, workers: int = 2) -> Outcome:
    return run_jobs(jobs, workers=workers, limits=limits, environment=dict(os.environ), tell=nobody)


def nobody(_index: int, _ended: JobResult | Lost | None) -> None:
    return


def test_results_come_back_under_their_own_index() -> None:
    outcome = ran(*(job("fine", n=n) for n in range(7)))
    assert [outcome.results[n].counts[f"seen/{n}"] for n in range(7)] == [1] * 7
    assert not outcome.lost


@pytest.mark.parametrize(
    ("runner", "why", "told"),
    [
        ("raises", Why.RAISED, "RuntimeError: no luck"),
        ("leaves", Why.RAISED, "SystemExit: a runner that exits"),
        ("dies", Why.DIED, "killed by SIGKILL"),
        ("ends", Why.DIED, "exit code 7"),
        ("babbles", Why.NONSENSE, "no JSON object"),
        ("nowhere", Why.RAISED, "can't be found"),
    ],
)
def test_a_job_without_a_result_is_told_with_its_reason_and_the_others_go_on(
    runner: str, why: Why, told: str
) -> None:
    outcome = ran(job("fine", n=0), job(runner), job("fine", n=2), job("fine", n=3))
    assert sorted(outcome.results) == [0, 2, 3]
    assert outcome.lost[1].why is why
    assert told in outcome.lost[1].told


def test_the_last_words_of_a_worker_that_died_are_kept() -> None:
    assert ran(job("dies")).lost[0].details == "my last words"


def test_a_hung_job_is_told_with_where_it_stood_and_its_children_are_killed(tmp_path: Path) -> None:
    outcome = ran(job("hangs", pid=str(tmp_path / "pid")), job("fine"), limits=Limits(2.5))
    assert outcome.lost[0].why is Why.HUNG
    assert "in hangs" in outcome.lost[0].details
    assert sorted(outcome.results) == [1]
    worker, child = (tmp_path / "pid").read_text(encoding="ascii").split()
    wait_until_gone(int(worker), int(child))


def test_a_flood_of_output_neither_blocks_a_job_nor_is_kept() -> None:
    outcome = ran(job("floods"), job("floods"))
    assert sorted(outcome.results) == [0, 1]


def test_a_forked_child_that_comes_back_does_not_answer_for_its_parent() -> None:
    outcome = ran(*(job("escapes", n=n) for n in range(3)), workers=1)
    assert sorted(outcome.results) == [0, 1, 2]
    assert not outcome.lost


def test_after_many_lost_jobs_the_rest_is_given_up() -> None:
    outcome = ran(*(job("ends") for _ in range(LOST_LIMIT + 20)))
    assert len(outcome.lost) + outcome.given_up == LOST_LIMIT + 20
    assert outcome.given_up >= 18


def test_the_deadline_cuts_jobs_that_run_and_those_that_wait(tmp_path: Path) -> None:
    limits = Limits(60.0, time.monotonic() + 1.5)
    started = time.monotonic()
    outcome = ran(
        job("hangs", pid=str(tmp_path / "pid")), job("hangs"), job("fine"), limits=limits, workers=1
    )
    assert time.monotonic() - started < 10
    assert (outcome.out_of_time, outcome.results, outcome.lost) == (3, {}, {})
    wait_until_gone(*map(int, (tmp_path / "pid").read_text(encoding="ascii").split()))


def test_heavy_jobs_are_begun_first_and_equals_in_the_plans_order() -> None:
    begun: list[int] = []

    def tell(index: int, ended: JobResult | Lost | None) -> None:
        if ended is not None:
            begun.append(index)

    weights = (1.0, 3.0, 2.0, 3.0)
    jobs = [Job("fake", "holdtrue.tests.fakes:fine", {}, weight) for weight in weights]
    run_jobs(jobs, workers=1, limits=FAR, environment=dict(os.environ), tell=tell)
    assert begun == [1, 3, 2, 0]


def test_an_exception_on_our_side_ends_the_workers_too(tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    def tell(_index: int, _ended: JobResult | Lost | None) -> None:
        if pid.exists():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_jobs([job("hangs", pid=str(pid))], workers=1, limits=FAR, environment=dict(os.environ), tell=tell)
    wait_until_gone(*map(int, pid.read_text(encoding="ascii").split()))


@contextmanager
def at(directory: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(directory)
    try:
        yield
    finally:
        os.chdir(before)


def test_a_worker_has_no_input_and_imports_nothing_from_where_the_user_stands(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "__init__.py").write_text("raise RuntimeError('not ours')\n", encoding="ascii")
    with at(tmp_path):
        told = ran(job("environment")).results[0].counts
    assert (told["input"], told["here"]) == (0, 0)


def test_a_worker_imports_neither_hypothesis_nor_networkx_by_itself() -> None:
    told = ran(job("environment")).results[0].counts
    assert (told["hypothesis"], told["networkx"]) == (0, 0)


def test_the_pool_needs_no_thread() -> None:
    before = threading.active_count()
    ran(job("fine"))
    assert threading.active_count() == before
