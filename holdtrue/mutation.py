"""`holdtrue mutants --source N`: ordinary mutation testing of `impl/`, on demand.

It says which share of small, meaningless changes the tests and checks notice, and shows those that nothing
noticed: each is either a gap in the checks, or equivalent, which takes an argument.
"""

import shutil
import time
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from crash_tests.planted.explained import argument_for
from crash_tests.planted.judged import FILE, digest_of_impl, settled_before, write_down
from crash_tests.planted.mutation import MutationError, run
from crash_tests.planted.score import Key, Mutant, Score
from holdtrue.detection import FILE as KEPT
from holdtrue.detection import kept
from holdtrue.exits import Exit, UsageError
from holdtrue.out import Printer
from holdtrue.progress import progress
from holdtrue.scratch import scratch
from holdtrue.writable import folder_for
from reports.detection import render_mutation
from reports.plain import paragraph, safe

WANTED = 0.9
"""The least share of mutants that has to be noticed."""


@frozen
class Options:
    sample: int
    seed: int = 0
    tool: str = "cosmic-ray"
    out: Path = Path("reports/out")
    workers: int = 1
    resume: bool = False
    """Don't judge again what `mutation.jsonl` names as noticed, in the same source, or what is explained."""


def mutation(options: Options, *, printer: Printer | None = None) -> int:
    """Measures, prints and keeps the score; returns the exit code. UsageError without the tool.

    Each mutant's end is written to `mutation.jsonl` at once, so that a run that is cut off loses nothing.
    """
    if shutil.which(options.tool) is None:
        raise UsageError(
            f"no program {options.tool!r}: 'pip install cosmic-ray', anywhere, and name it with --tool PATH"
        )
    folder_for(options.out, KEPT)
    out = printer or Printer()
    started = time.monotonic()
    journal, impl = options.out / FILE, digest_of_impl()
    before = _begun(journal, impl, resume=options.resume)
    about = f"{options.sample} mutants of impl, judged by tests and checks"
    with (
        scratch() as place,
        progress(out, "mutation", about, [1.0] * options.sample) as bar,
    ):
        stores = place / "stores"
        stores.mkdir()

        def tell(mutant: Mutant) -> None:
            if mutant.key not in before:
                write_down(journal, impl, mutant)
            bar.done(1.0)

        try:
            score = run(
                place / "copies",
                stores,
                sample=options.sample,
                seed=options.seed,
                workers=options.workers,
                tool=options.tool,
                before=before,
                tell=tell,
            )
        except MutationError as error:
            raise UsageError(str(error)) from error
        except KeyboardInterrupt:
            out.line()
            out.line("--resume goes on from what was judged, which stands in:")
            out.line(safe(journal))
            raise
    told = score.to_json(argument_for)
    out.line()
    out.lines(render_mutation(told))
    path, trouble = kept(options.out, mutation=told)
    out.line(f"{safe(path)} can't be written: {trouble}" if trouble else f"results: {path}")
    out.line()
    return _verdict(out, score, time.monotonic() - started)


def _begun(journal: Path, impl: str, *, resume: bool) -> Mapping[Key, Mutant]:
    """What needn't be judged again: nothing without `resume`. UsageError if the journal can't be used."""
    try:
        journal.parent.mkdir(parents=True, exist_ok=True)
        journal.touch()
        return settled_before(journal, impl) if resume else {}
    except OSError as error:
        raise UsageError(f"{journal} can't be used: {error.strerror or error}") from error


def _verdict(out: Printer, score: Score, seconds: float) -> int:
    survivors = [mutant for mutant in score.survivors if not argument_for(mutant)]
    share = 1 - len(score.survivors) / len(score.mutants) if score.mutants else 0.0
    passed = share >= WANTED and not survivors
    word = "NOTICED" if passed else "SURVIVED"
    for mutant in survivors:
        out.lines(paragraph(f"{mutant.file}:{mutant.line} {safe(mutant.operator)}", first="unexplained: "))
    out.strong(
        f"{word}  {share:.1%} of {len(score.mutants)} mutants noticed, {len(survivors)} survivors without an "
        f"argument, {seconds:.0f} s",
        word,
        "32" if passed else "31",
    )
    return Exit.PASSED if passed else Exit.VIOLATED
