"""`holdtrue mutants`: builds known faults into the store, one at a time, and sees which checks catch them.

A fault is planted in a process of its own and never touches the source. Green means that every fault that is
not equivalent was caught. What came of each stands in `detection.json`, which later runs put in their
reports; what came of a few faults (`--only`), or of an interrupted hunt, is printed and not kept, since it
says nothing of the others.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from crash_tests.planted.matrix import LIMIT_S, Hunted, hunted_in, plan
from holdtrue.detection import FILE, kept
from holdtrue.exits import Exit, Terminated, UsageError
from holdtrue.out import Printer
from holdtrue.pool import Limits, Lost, Outcome, run_jobs
from holdtrue.progress import progress
from holdtrue.scratch import environment_in, scratch
from holdtrue.writable import folder_for
from model.values import JSON
from reports.detection import render_detection, totals
from reports.plain import paragraph, safe
from stateful_tests.results import Job, JobResult


@frozen
class Options:
    """What `mutants` was asked for; `only` empty means all faults, `blind` leaves the pinned corpus out."""

    only: tuple[str, ...] = ()
    blind: bool = False
    seed: int = 0
    out: Path = Path("reports/out")
    workers: int = 1


def mutants(options: Options, *, jobs: Sequence[Job] | None = None, printer: Printer | None = None) -> int:
    """Hunts the faults and prints what came of it; returns the exit code. UsageError, before anything begins,
    for unknown faults, and where nothing could be kept.

    `jobs` are those of `plan`, unless given.
    """
    out = printer or Printer()
    started = time.monotonic()
    if jobs is None:
        try:
            jobs = plan(options.only, blind=options.blind, seed=options.seed)
        except ValueError as error:
            raise UsageError(f"{error}; 'holdtrue mutants --list' lists them all") from error
    if not options.only:
        folder_for(options.out, FILE)
    outcome, ended_by = _hunt(jobs, options, out)
    results = [outcome.results[index] for index in sorted(outcome.results)]
    hunted = hunted_in(results)
    faults: list[JSON] = [dict(one.to_json()) for one in hunted]
    about: dict[str, Any] = {"with_corpus": not options.blind, "seed": options.seed}
    out.line()
    if ended_by is not None:
        out.lines(paragraph(_partial(len(hunted), len(jobs)), then=""))
        out.line()
    if hunted or ended_by is None:
        out.lines(render_detection({**about, "faults": faults, "mutation": None}))
    if not options.only and not outcome.lost and ended_by is None:
        path, trouble = kept(options.out, **about, faults=faults)
        out.line(f"{safe(path)} can't be written: {trouble}" if trouble else f"results: {path}")
    return _verdict(out, hunted, outcome, started, ended_by=ended_by, planned=len(jobs))


def list_faults(printer: Printer | None = None) -> int:
    """Prints every planted fault with its sentence."""
    from crash_tests.planted.matrix import FAULTS

    out = printer or Printer()
    for system, faults in FAULTS.items():
        out.line(f"{system}: {len(faults)} planted faults")
        for fault in faults.values():
            out.lines(paragraph(f"{fault.id}: {fault.sentence}", first="  ", then="      "))
    return Exit.PASSED


def mutants_command(options: object) -> int:
    """`holdtrue mutants` as the command line asks for it."""
    from holdtrue.options import cores

    asked = vars(options)
    if asked["list"]:
        return list_faults()
    if not asked["out"]:
        raise UsageError("--out is empty; name a directory, or leave it out for reports/out")
    if asked["source"] is not None:
        if asked["only"] or asked["without_corpus"]:
            raise UsageError("--only and --without-corpus are for planted faults, and --source plants none")
        from holdtrue import mutation

        wanted = mutation.Options(
            asked["source"],
            asked["seed"],
            asked["tool"],
            Path(asked["out"]),
            asked["jobs"] or cores(),
            asked["resume"],
        )
        return mutation.mutation(wanted)
    if asked["resume"]:
        raise UsageError("--resume goes with --source: hunts of planted faults are begun anew each time")
    only = tuple(asked["only"] or ())
    return mutants(
        Options(only, asked["without_corpus"], asked["seed"], Path(asked["out"]), asked["jobs"] or cores())
    )


def _hunt(jobs: Sequence[Job], options: Options, out: Printer) -> tuple[Outcome, int | None]:
    """What came of the hunts, and the exit code of what has interrupted them, if anything."""
    seen = Outcome()
    about = "each planted fault, hunted"
    try:
        with scratch() as place, progress(out, "mutants", about, [1.0] * len(jobs)) as bar:

            def tell(index: int, ended: JobResult | Lost | None) -> None:
                if ended is None:
                    bar.tick()
                    return
                if isinstance(ended, Lost):
                    seen.lost[index] = ended
                else:
                    seen.results[index] = ended
                bar.done(jobs[index].weight)

            limits = Limits(LIMIT_S + 60.0)
            environment = environment_in(place)
            done = run_jobs(jobs, workers=options.workers, limits=limits, environment=environment, tell=tell)
            return done, None
    except KeyboardInterrupt:
        return seen, Exit.INTERRUPTED
    except Terminated as terminated:
        return seen, terminated.exit


def _partial(hunted: int, planned: int) -> str:
    if not hunted:
        return f"Interrupted before any of the {planned} hunts had ended: there is nothing to show."
    return (
        f"This is a part: the hunts were interrupted when {hunted} of {planned} had ended. It says nothing "
        "of the other faults, and is not kept."
    )


def _verdict(
    out: Printer,
    hunted: Sequence[Hunted],
    outcome: Outcome,
    started: float,
    *,
    ended_by: int | None,
    planned: int,
) -> int:
    lost, given_up = outcome.lost.values(), outcome.given_up
    for one in lost:
        out.lines(paragraph(f"lost: {safe(one.job.params['fault'])}: {safe(one.told)}", first="- "))
    sums = totals([one.to_json() for one in hunted])
    refuted = sum(one.refuted for one in hunted)
    took = f"{time.monotonic() - started:.1f} s"
    out.line()
    code: int
    if ended_by is not None:
        word, colour, code = "INTERRUPTED", "33", ended_by
    elif lost or given_up:
        word, colour, code = "HARNESS FAILED", "33", Exit.HARNESS_FAILED
    elif sums["survived"] or refuted:
        word, colour, code = "SURVIVED", "31", Exit.VIOLATED
    else:
        word, colour, code = "CAUGHT", "32", Exit.PASSED
    part = "" if ended_by is None else f"{len(hunted)} of {planned} faults hunted: "
    told = (
        f"{word}  {part}{sums['caught']:.0f} of {sums['planted'] - sums['equivalent']:.0f} faults caught, "
        f"{sums['equivalent']:.0f} equivalent, {took}; median {sums['median_s']:.1f} s, "
        f"longest trace {sums['longest']:.0f} actions"
    )
    if lost or given_up:
        told += f"; {len(lost)} hunts lost, {given_up} never begun"
    if refuted:
        told += f"; {refuted} caught though said to be equivalent"
    if ended_by is not None:
        told += "; a part, and not kept"
    out.strong(told, word, colour)
    return code
