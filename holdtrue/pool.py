"""Runs jobs in worker processes, and loses none of them silently.

Guarantees: each job ends up either with a result, or as `Lost` with the reason and what its worker last said,
or counted as not run (time budget, or too many lost before it). However `run_jobs` ends, by return or by
exception, every worker and whatever is left of its process group has been killed by then.

It does not guarantee the order in which jobs run: heavy ones go first, so that no core idles at the end. Nor
does it reach a process that a runner moved to a session of its own.
"""

import selectors
import time
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from attrs import define, field, frozen

from holdtrue.workers import Worker, WorkerGoneError
from stateful_tests.results import Job, JobResult

LOST_LIMIT = 5
"""After this many lost jobs a phase is given up: its other jobs would most likely fare the same, and each
hanging one costs the whole limit."""


class Why(StrEnum):
    RAISED = "raised"
    DIED = "died"
    HUNG = "hung"
    NONSENSE = "nonsense"


@frozen
class Lost:
    """A job without a result. `details` is a traceback or the end of its worker's standard error."""

    job: Job
    why: Why
    told: str
    details: str


@frozen
class Limits:
    """`job_s`: seconds after which a running job counts as hung. `deadline`: when to stop altogether, on
    `time.monotonic`'s clock; `None` is never."""

    job_s: float
    deadline: float | None = None


@define
class Outcome:
    """What became of the jobs: results and losses by the job's index in the plan, and why some never ran."""

    results: dict[int, JobResult] = field(factory=dict)
    lost: dict[int, Lost] = field(factory=dict)
    out_of_time: int = 0
    given_up: int = 0


Tell = Callable[[int, JobResult | Lost | None], None]
"""Called with a job's index as it ends, and with (-1, None) at least twice a second meanwhile."""


def run_jobs(
    jobs: Sequence[Job], *, workers: int, limits: Limits, environment: Mapping[str, str], tell: Tell
) -> Outcome:
    """Runs all `jobs` in at most `workers` processes. `environment` is the whole environment they get."""
    crew = _Crew(jobs, limits, environment, tell)
    try:
        return crew.run(workers)
    finally:
        crew.end_all()


class _Crew:
    def __init__(
        self, jobs: Sequence[Job], limits: Limits, environment: Mapping[str, str], tell: Tell
    ) -> None:
        self.jobs = jobs
        self.limits = limits
        self.environment = environment
        self.tell = tell
        self.outcome = Outcome()
        # Popped from the end: heaviest first, and in the plan's order among equals.
        self.waiting = sorted(range(len(jobs)), key=lambda index: (jobs[index].weight, -index))
        self.workers: list[Worker] = []
        self.selector = selectors.DefaultSelector()

    def run(self, count: int) -> Outcome:
        while self.waiting or any(worker.job is not None for worker in self.workers):
            if self._past_deadline():
                self.outcome.out_of_time = len(self.waiting) + sum(w.job is not None for w in self.workers)
                break
            if len(self.outcome.lost) >= LOST_LIMIT and self.waiting:
                self.outcome.given_up = len(self.waiting)
                self.waiting.clear()
            self._hand_out(count)
            self._listen()
            self.tell(-1, None)
        return self.outcome

    def end_all(self) -> None:
        for worker in self.workers:
            worker.end(self.selector)
        self.workers.clear()
        self.selector.close()

    def _past_deadline(self) -> bool:
        return self.limits.deadline is not None and time.monotonic() >= self.limits.deadline

    def _hand_out(self, count: int) -> None:
        while self.waiting:
            idle = next((worker for worker in self.workers if worker.job is None), None)
            if idle is None:
                if len(self.workers) >= count:
                    return
                idle = Worker(self.environment, self.selector)
                self.workers.append(idle)
            index = self.waiting.pop()
            idle.give(index, self.jobs[index])

    def _listen(self) -> None:
        wait = 0.5
        if self.limits.deadline is not None:
            wait = max(0.0, min(wait, self.limits.deadline - time.monotonic()))
        for key, _ in self.selector.select(wait):
            key.data()
        for worker in list(self.workers):
            try:
                while (message := worker.take_answer()) is not None:
                    self._answered(worker, message)
                worker.check()
            except WorkerGoneError as gone:
                self._lose(worker, Why.NONSENSE if gone.nonsense else Why.DIED, str(gone))
            if worker.job is not None and worker.busy_s() > self.limits.job_s:
                where = worker.ask_where_it_stands(self.selector)
                self._lose(worker, Why.HUNG, f"no answer within {self.limits.job_s:g} s{where}")

    def _answered(self, worker: Worker, message: dict[str, object]) -> None:
        index = worker.job
        if index is None or message.get("id") != index:
            raise WorkerGoneError(
                f"an answer to job {message.get('id')!r}, which it was not given", nonsense=True
            )
        if "error" in message:
            worker.job = None
            lost = Lost(self.jobs[index], Why.RAISED, str(message["error"]), str(message.get("details", "")))
            self.outcome.lost[index] = lost
            self.tell(index, lost)
            return
        try:
            result = JobResult.from_json(message.get("result"))
        except ValueError as error:
            raise WorkerGoneError(f"its result has the wrong shape: {error}", nonsense=True) from error
        worker.job = None
        self.outcome.results[index] = result
        self.tell(index, result)

    def _lose(self, worker: Worker, why: Why, told: str) -> None:
        index, worker.job = worker.job, None
        worker.end(self.selector)
        self.workers.remove(worker)
        if index is not None:
            lost = Lost(self.jobs[index], why, told, worker.last_words())
            self.outcome.lost[index] = lost
            self.tell(index, lost)
