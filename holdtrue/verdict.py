"""From what a run saw to its verdict: one word, the exit code, the reasons, and the last line.

Passed means *checked enough*: every planned job ran, every floor was reached, nothing was found. A violation
outweighs all else, since a counterexample stays one whatever else went wrong. A partial run (`--only`) can
pass, but its verdict names the phases that it speaks for; that of a target says how much its owner has
declared, and how much was out of its reach. No second and no rate is part of a verdict: what is shown beside
its line (`reports.summary.verdict_line`) is.
"""

from attrs import frozen

from holdtrue.exits import Exit
from holdtrue.record import PhaseRecord, Record
from model.values import JSON
from reports.coverage import actions_in, kills_in
from reports.targets import reservations

SHOWN = 3
"""Names in a list on the verdict's line; the summary has them all."""


@frozen
class Verdict:
    word: str
    exit: Exit
    reasons: tuple[str, ...]
    scope: str
    line: str

    def to_json(self) -> dict[str, JSON]:
        return {
            "word": self.word,
            "exit_code": int(self.exit),
            "reasons": list(self.reasons),
            "scope": self.scope,
            "line": self.line,
        }


def judge(record: Record) -> Verdict:
    """The verdict on a run that has ended, in whatever way."""
    found = [*_found(record), *_explored(record, "violated")]
    broken = [reason for phase in record.phases for reason in _broken(phase)]
    short = [reason for phase in record.phases for reason in _short(phase)]
    broken += [record.unwritable] if record.unwritable else []
    if record.not_begun:
        short.append(f"not begun: {', '.join(record.not_begun)}")
    short += _explored(record, "inconclusive")
    if record.interrupted:
        word, code = "INTERRUPTED", Exit.INTERRUPTED
    elif found:
        word, code = "VIOLATED", Exit.VIOLATED
    elif broken:
        word, code = "HARNESS FAILED", Exit.HARNESS_FAILED
    elif short or _rare(record):
        word, code = "INCONCLUSIVE", Exit.INCONCLUSIVE
    else:
        word, code = "PASSED", Exit.PASSED
    # A violation stops its job, and a phase that was cut short did not see all: floors missed for that are no
    # news, and stay out of the line.
    told = (*found, *broken) if found else (*broken, *short, *_rare(record, whole=True))
    if word == "PASSED":
        told = (*told, *_reserved(record))
    reasons = (*found, *broken, *short, *_rare(record))
    scope = _scope(record)
    line = f"{word}  {scope}: {'; '.join(told)}" if told else f"{word}  {scope}"
    return Verdict(word, code, reasons, scope, line)


def _reserved(record: Record) -> list[str]:
    """Of what the pass of a target does not speak: its capabilities and its owner have left that out."""
    phases = [{"counts": phase.counts, "details": phase.details()} for phase in record.phases]
    said = reservations({"phases": phases})
    return [f"{said} (each is named under Not checked)"] if said else []


def _scope(record: Record) -> str:
    """What was asked for, and how much was done."""
    scope = f"{record.profile}, seed {record.seed}"
    if record.left_out:
        scope = f"only {', '.join(phase.name for phase in record.phases)}; {scope}"
    jobs = sum(len(phase.results) for phase in record.phases)
    done = [f"{jobs:,} job{'' if jobs == 1 else 's'}"]
    for what, counted in (("actions", actions_in), ("kills", kills_in)):
        count = sum(counted(phase.counts) for phase in record.phases)
        done += [f"{count:,} {what}"] if count else []
    return f"{scope}: {', '.join(done)}"


def _found(record: Record) -> list[str]:
    clauses = sorted({found.failure.clause for found in record.found})
    if not clauses:
        return []
    many = f"{len(record.found)} counterexample{'' if len(record.found) == 1 else 's'}"
    return [f"{many} to {_listed([repr(clause) for clause in clauses])}"]


def _explored(record: Record, verdict: str) -> list[str]:
    """The spaces of which an exploration says that."""
    told = []
    for each in record.explorations:
        if each.get("verdict") == verdict:
            why = f": {each['reason']}" if each.get("reason") else ""
            told.append(f"exploration of {each.get('system')}/{each.get('space')}: {verdict}{why}")
    return told


def _broken(phase: PhaseRecord) -> list[str]:
    told = []
    if phase.lost:
        reasons = sorted({lost.why.value for lost in phase.lost.values()})
        told.append(
            f"{phase.name}: {len(phase.lost)} of {len(phase.plan.jobs)} jobs lost ({', '.join(reasons)})"
        )
    if phase.given_up:
        told.append(f"{phase.name}: given up then, {phase.given_up} jobs not run")
    return told


def _short(phase: PhaseRecord) -> list[str]:
    told = []
    if not phase.plan.jobs:
        told.append(f"{phase.name}: nothing was planned")
    if phase.out_of_time:
        told.append(f"{phase.name}: the time budget cut {phase.out_of_time} of {len(phase.plan.jobs)} jobs")
    return told


def _rare(record: Record, *, whole: bool = False) -> list[str]:
    """Which floors were missed, phase by phase; with `whole` only by phases of which each job has ended."""
    return [
        f"{phase.name}: seen too rarely: "
        + _listed([f"{key} {seen}/{floor}" for key, seen, floor in phase.below_floor])
        for phase in record.phases
        if phase.below_floor and not (whole and len(phase.results) < len(phase.plan.jobs))
    ]


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
