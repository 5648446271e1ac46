"""`holdtrue gate`: a run's results become a decision, by a policy file, with its reasons.

Exit codes: 0 accepted, 1 refused (something is violated), 3 undecided (not enough was checked), 2 usage: a
run or a policy that can't be read decides nothing. Run by GitHub Actions, it adds a summary to the step and
annotations to the run. It reads results alone: it says what that file says, and whether the file is the one
that the run wrote is asked of `holdtrue verify`.
"""

import os
import sys
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

from holdtrue.exits import UsageError
from holdtrue.out import Printer
from holdtrue.runfolder import shown
from holdtrue.runs import Run, read_run
from reports import gate_text, markdown
from reports.gate import Decision, decide
from reports.policy import Policy, PolicyError, parse, with_suppressions
from reports.targets import target_of

LARGEST_POLICY: Final = 1024 * 1024
COLOURS: Final = {"ACCEPTED": "32", "REFUSED": "31", "UNDECIDED": "33"}


def gate_command(options: object) -> int:
    """`holdtrue gate` as the command line asks for it."""
    asked = vars(options)
    return gate(
        asked["run"],
        Printer(),
        against=asked["against"],
        policy=asked["policy"],
        today=datetime.now(UTC).date(),
        environment=os.environ,
    )


def gate(
    named: str,
    printer: Printer,
    *,
    against: str | None,
    policy: str | None,
    today: date,
    environment: Mapping[str, str],
) -> int:
    """Decides on the run `named` and prints why; returns the exit code. `environment` says where it runs."""
    rules = None if policy is None else read_policy(policy)
    run = read_run(named)
    older = None if against is None else read_run(against, traces=False)
    decision = decide(
        run.results,
        rules,
        today=today,
        older=None if older is None else older.results,
        whole=whole_check(run.results),
    )
    lines = gate_text.render_decision(
        decision,
        run.results,
        run=shown(run.folder),
        policy=policy or "",
        older="" if older is None else shown(older.folder),
    )
    printer.lines(lines[:-1])
    if environment.get("GITHUB_ACTIONS") == "true":
        for command in gate_text.annotations(decision, run.results):
            printer.command(command)
        _summarize(decision, run, rules, environment.get("GITHUB_STEP_SUMMARY", ""))
    printer.strong(lines[-1], decision.word, COLOURS[decision.word])
    return decision.exit


def whole_check(results: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the phases that a whole check of that store has today."""
    from holdtrue.phases import OF_A_TARGET, PHASES  # with the checks, which a report doesn't load

    return tuple(phase.name for phase in PHASES) if target_of(results) is None else OF_A_TARGET


def read_policy(named: str) -> Policy:
    """The policy in the file `named`. UsageError, with the file and the place in it, if it can't be used."""
    path = Path(named)
    try:
        if not path.is_file():
            what = "it is no regular file" if path.exists() else "there is no such file"
            raise UsageError(f"--policy {named!r}: {what}")
        if path.stat().st_size > LARGEST_POLICY:
            raise UsageError(f"--policy {named!r}: no policy is as large as that")
        return parse(path.read_text("utf-8"))
    except PolicyError as error:
        raise UsageError(f"{named}: {error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"--policy {named!r}: byte {error.start} is no UTF-8 text") from error
    except (OSError, ValueError) as error:
        told = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"--policy {named!r} can't be read: {told}") from error


def _summarize(decision: Decision, run: Run, policy: Policy | None, file: str) -> None:
    """Adds to the step's summary. That it can't be written changes no decision."""
    if not file:
        return
    whole = markdown.render(with_suppressions(run.results, policy), run.traces)
    told = f"{gate_text.markdown(decision, run.results)}\n{whole}"
    try:
        with Path(file).open("a", encoding="utf-8") as summary:
            summary.write(told)
    except (OSError, ValueError) as error:
        print(f"holdtrue gate: the step's summary can't be written: {error}", file=sys.stderr)
