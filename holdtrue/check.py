"""`holdtrue check`: phase by phase, what is planned is run in workers, gathered, judged, shown and kept.

The order of things is fixed: progress, then the run's folder, then the summary and the failures, and the
verdict as the last line. Whatever ends the run early (Ctrl-C, SIGTERM, SIGHUP, the time budget), all workers
are ended and what was seen until then is kept and shown. A folder that can't be written (a full disk) takes
nothing from what is shown; such a run has not passed.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attrs import frozen

from holdtrue.closing import Closed, close, undisturbed
from holdtrue.detection import known
from holdtrue.evidence import gather
from holdtrue.exits import Exit, Terminated, UsageError
from holdtrue.out import Printer
from holdtrue.phases import PHASES, Phase
from holdtrue.pool import Limits, Lost, run_jobs
from holdtrue.progress import progress
from holdtrue.provenance import code, environment, invocation
from holdtrue.record import Found, PhaseRecord, Record
from holdtrue.rendering import text
from holdtrue.runfolder import RunFolder, shown
from holdtrue.scratch import environment_in, scratch
from model.values import JSON
from stateful_tests.results import JobResult

JOB_LIMIT_S = {"quick": 120.0, "ci": 600.0, "deep": 1800.0}
"""Seconds after which a job counts as hung. Plans cut their work so that a job takes a few seconds, or a few
minutes in the deep profile: these limits leave room for a loaded machine, not for more work."""

TRACES_KEPT = 200


@frozen
class Options:
    """What `check` was asked for; `only` empty means all phases, `time_budget` is in seconds, `command` is
    what was typed, for the report; `aimed` says that another store is checked."""

    profile: str = "quick"
    seed: int = 0
    time_budget: float | None = None
    only: tuple[str, ...] = ()
    out: Path = Path("reports/out")
    workers: int = 1
    job_limit_s: float | None = None
    command: tuple[str, ...] = ("holdtrue", "check")
    aimed: bool = False


def check(options: Options, *, phases: Sequence[Phase] = PHASES, printer: Printer | None = None) -> int:
    """Runs the check and prints it; returns the exit code. UsageError if `options.out` can't be used."""
    out = printer or Printer()
    started, now = time.monotonic(), datetime.now(UTC)
    wanted = [phase for phase in phases if not options.only or phase.name in options.only]
    left_out = tuple(phase.name for phase in phases if phase not in wanted)
    folder = RunFolder(options.out, now)
    ended_by: Terminated | None = None
    try:
        with scratch() as place:
            out.line(_greeting(options, place))
            where = _environment_of(options, folder, place)
            record = Record(options.profile, options.seed, left_out, options.time_budget, now, code(), where)
            record.detection = _detection(options.out, out)
            try:
                _run_phases(wanted, options, _Desk(record, folder, out, place, started))
                record.seconds = time.monotonic() - started
                if not options.aimed:  # what our own store leaves on disk is no evidence of another's faults
                    gather(record, folder, workers=options.workers, environment=environment_in(place))
            except KeyboardInterrupt:
                record.interrupted = True
            except Terminated as terminated:
                record.interrupted, ended_by = True, terminated
            record.seconds = record.seconds or time.monotonic() - started
        with undisturbed():
            closed = close(record, folder, options.out)
    finally:
        folder.discard()
    _show(out, closed, record.unwritable or f"{shown(folder.path)}/results.json", folder.remark)
    return closed.verdict.exit if ended_by is None else ended_by.exit


def _detection(folder: Path, out: Printer) -> JSON:
    """What `holdtrue mutants` has left there; a broken file costs no run its verdict."""
    try:
        return known(folder)
    except UsageError as error:
        out.line(f"detection power is left out of the report: {error}")
        return None


def _environment_of(options: Options, folder: RunFolder, scratch: Path) -> dict[str, JSON]:
    return environment(
        run=folder.name,
        folder=shown(folder.path),
        command=list(options.command),
        workers=options.workers,
        scratch=scratch,
        invocation=invocation(shown(Path(sys.executable).with_name("holdtrue"))),
    )


def check_command(options: object) -> int:
    """`holdtrue check` as the command line asks for it."""
    from holdtrue.options import cores

    asked = vars(options)
    if not asked["out"]:
        raise UsageError("--out is empty; name a directory, or leave it out for reports/out")
    return check(
        Options(
            profile=asked["profile"],
            seed=asked["seed"],
            time_budget=asked["time_budget"],
            only=tuple(asked["only"] or ()),
            out=Path(asked["out"]),
            workers=asked["jobs"] or cores(),
            command=("holdtrue", *sys.argv[1:]),
            aimed=asked["target"] is not None,
        ),
        phases=_phases_of(asked),
    )


def _phases_of(asked: Mapping[str, Any]) -> Sequence[Phase]:
    if asked["target"] is not None:
        from holdtrue.aimed import phases_of

        return phases_of(asked)
    for option in ("policy", "reply_limit"):
        if asked[option] is not None:
            raise UsageError(
                f"--{option.replace('_', '-')} goes with --target, which names a store's command"
            )
    return PHASES


@frozen
class _Desk:
    """Where results go as they come."""

    record: Record
    folder: RunFolder
    out: Printer
    scratch: Path
    started: float


def _run_phases(wanted: list[Phase], options: Options, desk: _Desk) -> None:
    deadline = None if options.time_budget is None else desk.started + options.time_budget
    limits = Limits(options.job_limit_s or JOB_LIMIT_S[options.profile], deadline)
    for at, phase in enumerate(wanted):
        if deadline is not None and time.monotonic() >= deadline:
            desk.record.not_begun = tuple(later.name for later in wanted[at:])
            return
        desk.record.not_begun = tuple(later.name for later in wanted[at + 1 :])
        _run_phase(phase, options, limits, desk)


def _run_phase(phase: Phase, options: Options, limits: Limits, desk: _Desk) -> None:
    started = time.monotonic()
    plan = phase.plan(options.profile, options.seed)
    here = PhaseRecord(phase.name, phase.about, plan)
    desk.record.phases.append(here)
    with progress(desk.out, phase.name, phase.about, [job.weight for job in plan.jobs]) as bar:

        def tell(index: int, ended: JobResult | Lost | None) -> None:
            if ended is None:
                bar.tick()
                return
            if isinstance(ended, Lost):
                here.lost[index] = ended
            else:
                here.results[index] = ended
                _keep(index, ended, phase.name, desk)
            bar.done(plan.jobs[index].weight)

        try:
            outcome = run_jobs(
                plan.jobs,
                workers=options.workers,
                limits=limits,
                environment=environment_in(desk.scratch),
                tell=tell,
            )
            here.out_of_time, here.given_up = outcome.out_of_time, outcome.given_up
        finally:
            here.seconds = time.monotonic() - started


def _keep(index: int, result: JobResult, phase: str, desk: _Desk) -> None:
    """Files a result's failures, each trace in a file of its own, up to a bound."""
    for at, failure in enumerate(result.failures):
        file = ""
        if len(desk.record.found) < TRACES_KEPT:
            file = desk.folder.add_trace(f"{phase}-{index + 1:03}-{at + 1}", failure.clause, failure.trace)
        desk.record.found.append(Found(phase, failure, file, kept=desk.folder.has(file)))


def _greeting(options: Options, scratch: Path) -> str:
    budget = "" if options.time_budget is None else f", at most {options.time_budget:g} s"
    workers = f"{options.workers} worker{'' if options.workers == 1 else 's'}"
    return f"holdtrue check: {options.profile}, seed {options.seed}{budget}; {workers} in {scratch.parent}"


def _show(out: Printer, closed: Closed, results: str, remark: str) -> None:
    *lines, last = text(closed.results, closed.traces)
    out.line()
    out.lines(lines)
    out.line(f"results: {results}")
    if remark:
        out.line(remark)
    out.line()
    verdict = closed.verdict
    colour = "32" if verdict.exit is Exit.PASSED else "31" if verdict.exit is Exit.VIOLATED else "33"
    out.strong(last, verdict.word, colour)
