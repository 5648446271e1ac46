"""Ordinary mutation testing of `impl`, with cosmic-ray, on a sample: how many small changes go unnoticed?

Works on two copies of the project in a temporary directory, one to be mutated and one to compare with, so
that neither the source nor a store of the user's is ever touched. cosmic-ray makes the mutants; a sample of
them, drawn with a seed, is judged by `crash_tests.planted.judge`. Mutants of type annotations are left out:
they say nothing about behaviour, and would be noticed by the import alone.

What comes of them is a `score`.
"""

import ast
import contextlib
import json
import os
import random
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from crash_tests.planted.score import TOOL, Key, Mutant, Score

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGES: Final = ("model", "impl", "stateful_tests", "crash_tests", "reports", "holdtrue", "benchmarks")
MOST_UNMADE: Final = 0.05
"""Which share of the sample a tool may fail to make, by its own bugs, before the score says nothing."""


class MutationError(Exception):
    """The tool is missing, or it failed. The message says what to do."""


def run(
    place: Path,
    stores: Path,
    *,
    sample: int,
    seed: int,
    workers: int = 1,
    tool: str = TOOL,
    before: Mapping[Key, Mutant],
    tell: Callable[[Mutant], None],
) -> Score:
    """Judges `sample` mutants in copies below `place`, with their stores below `stores`.

    What is in `before` is not judged again. `tell` hears of each mutant, soon after its judgement or at once.

    Raises `MutationError`.
    """
    version = (_said(tool, "--version").split() or ["?"])[-1]
    pristine = _copied(place / "pristine")
    session = place / "all.sqlite"
    _configure(pristine, "true")
    _ask(pristine, tool, "init", "cosmic-ray.toml", str(session))
    try:
        chosen, of = _sampled(session, pristine, sample=sample, seed=seed)
    except sqlite3.Error as error:
        raise MutationError(f"{tool} has made no session of cosmic-ray's ({error}); is it that?") from error
    judged = [before[key] for key in chosen.values() if key in before]
    for mutant in judged:
        tell(mutant)
    left = [job for job, key in chosen.items() if key not in before]
    sessions = [
        _session(place, number, session, left[number::workers], pristine) for number in range(workers)
    ]
    if left:
        _check_sound(sessions[0].parent, pristine, stores)
        judged += _judged(sessions, [f"TMPDIR={stores}", tool, "exec", "cosmic-ray.toml"], tell)
    made = tuple(mutant for mutant in judged if mutant.made)
    unmade = [f"{mutant.file}:{mutant.line}: {mutant.noticed}" for mutant in judged if not mutant.made]
    if len(unmade) > len(made) * MOST_UNMADE:
        raise MutationError(f"{unmade[0]}; and so of {len(unmade) - 1} more")
    return Score(version, seed, of, made, len(unmade))


def _judged(sessions: Sequence[Path], command: Sequence[str], tell: Callable[[Mutant], None]) -> list[Mutant]:
    """The mutants of all sessions, each of which is gone through by a process of its own."""
    running = [
        subprocess.Popen(
            ["env", *command, path.name], cwd=path.parent, stdout=subprocess.DEVNULL, start_new_session=True
        )
        for path in sessions
    ]
    found: dict[Key, Mutant] = {}

    def look() -> None:
        for mutant in (mutant for path in sessions for mutant in _results(path)):
            if mutant.key not in found:
                found[mutant.key] = mutant
                tell(mutant)

    try:
        while any(one.poll() is None for one in running):
            for one in running:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    one.wait(timeout=0.5)
            look()
    finally:
        for one in running:
            if one.poll() is None:
                os.killpg(one.pid, signal.SIGKILL)  # with the judge and what that has started
                one.wait()
        look()
    if any(one.returncode for one in running):
        codes = [one.returncode for one in running]
        raise MutationError(f"{command[1]} exec ended with {codes}; what it said stands above")
    return list(found.values())


def _copied(target: Path) -> Path:
    for name in PACKAGES:
        shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__", "out"))
    shutil.copy(ROOT / "pyproject.toml", target)
    return target


def _configure(folder: Path, command: str) -> None:
    (folder / "cosmic-ray.toml").write_text(
        "[cosmic-ray]\n"
        'module-path = "impl"\n'
        "timeout = 1200.0\n"
        'excluded-modules = ["impl/tests/*", "impl/gated/tests/*"]\n'
        f"test-command = {json.dumps(command)}\n"
        "[cosmic-ray.distributor]\n"
        'name = "local"\n',
        encoding="utf-8",
    )


def _session(place: Path, number: int, session: Path, chosen: Sequence[str], pristine: Path) -> Path:
    """A worker's copy of the project, with a session that holds its part of the sample."""
    folder = _copied(place / f"worker{number}")
    _configure(folder, shlex.join(_judge(folder, str(pristine))))
    mine = folder / "session.sqlite"
    shutil.copy(session, mine)
    with closing(sqlite3.connect(mine)) as database, database:
        database.execute("create temp table chosen (job_id text primary key)")
        database.executemany("insert into chosen values (?)", [(job,) for job in chosen])
        for table in ("mutation_specs", "work_items"):
            database.execute(f"delete from {table} where job_id not in (select job_id from chosen)")
    return mine


def _judge(folder: Path, *arguments: str) -> list[str]:
    """The command that judges the mutant in `folder`. Compiled files are neither read nor written: a mutant
    can have its original's size and second."""
    found = ("env", "PYTHONDONTWRITEBYTECODE=1", f"PYTHONPATH={folder}", sys.executable)
    return [*found, "-m", "crash_tests.planted.judge", *arguments]


def _check_sound(folder: Path, pristine: Path, stores: Path) -> None:
    """Raises `MutationError` if the judge finds fault with the sound store: then it would with anything."""
    command = ["env", f"TMPDIR={stores}", *_judge(folder, "--sound", str(pristine))]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if ended.returncode:
        told = (ended.stdout + ended.stderr)[-2000:]
        raise MutationError(f"without any mutant the tests and checks do not pass in a copy: {told}")


def _sampled(session: Path, root: Path, *, sample: int, seed: int) -> tuple[dict[str, Key], int]:
    """The sample by cosmic-ray's ids, and how many mutants it was drawn from."""
    with closing(sqlite3.connect(session)) as database:
        rows = database.execute(
            "select module_path, start_pos_row, start_pos_col, operator_name, occurrence, job_id "
            "from mutation_specs order by 1, 2, 3, 4, 5"
        ).fetchall()
    hints = {path: list(_annotations(root / path)) for path in {row[0] for row in rows}}
    real = [row for row in rows if not any(start <= row[1:3] < end for start, end in hints[row[0]])]
    draw = random.Random(f"{seed}/mutation")
    return {row[-1]: row[:-1] for row in draw.sample(real, min(sample, len(real)))}, len(real)


def _annotations(path: Path) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Where type annotations stand in a source file: from (line, column) up to (line, column)."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        found = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        for hint in found:
            if isinstance(hint, ast.expr) and hint.end_lineno is not None and hint.end_col_offset is not None:
                yield (hint.lineno, hint.col_offset), (hint.end_lineno, hint.end_col_offset)


def _results(session: Path) -> Iterator[Mutant]:
    with closing(sqlite3.connect(session)) as database:
        rows = database.execute(
            "select module_path, start_pos_row, start_pos_col, operator_name, occurrence, diff, "
            "test_outcome, output, worker_outcome "
            "from mutation_specs join work_results using (job_id) order by 1, 2, 3, 4, 5"
        ).fetchall()
    for file, line, column, operator, occurrence, diff, outcome, output, worker in rows:
        if str(worker).upper() != "NORMAL":
            told = f"{TOOL} could not make this mutant ({worker}): {output}".strip()
            yield Mutant(file, line, operator, diff or "", told, column, occurrence, made=False)
            continue
        survived = str(outcome).upper() == "SURVIVED"
        noticed = "" if survived else str(output or outcome).strip()
        yield Mutant(file, line, operator, diff or "", noticed, column, occurrence)


def _said(tool: str, *arguments: str) -> str:
    try:
        return subprocess.run([tool, *arguments], capture_output=True, text=True, check=True).stdout
    except FileNotFoundError as error:
        raise MutationError(
            f"{tool} is not installed: 'pip install cosmic-ray', anywhere, and name it with --tool PATH"
        ) from error
    except subprocess.CalledProcessError as error:
        raise MutationError(f"{tool} {arguments[0]} ended with {error.returncode}: {error.stderr}") from error


def _ask(folder: Path, tool: str, *arguments: str) -> None:
    ended = subprocess.run([tool, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise MutationError(f"{tool} {arguments[0]} ended with {ended.returncode}: {ended.stderr[-2000:]}")
