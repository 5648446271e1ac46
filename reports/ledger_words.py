"""Actions on a ledger-gated store, and what came of them, in words, from their JSON forms.

The second system's part of `reports.words`, under the same promise: JSON of an unknown shape is shown as it
is, never refused, and `of` (a value in words) makes everything harmless.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Of = Callable[[object], str]
Deed = Callable[[Mapping[str, Any], Of], str]

_STANDING = {"completed", "committed", "noop", "rolled_back", "in_doubt"}


def ledger_words(action: Mapping[str, Any], of: Of) -> str | None:
    """What was done, e.g. `a: transact k1 (apply), set x; mirror no. 1 fails`; `None` if it is no action of
    the ledger."""
    done = action.get("do")
    deed = _DEEDS.get(done) if isinstance(done, str) else None
    if deed is None:
        return None
    faults = action.get("faults", ())
    told = [deed(action, of)]
    if isinstance(faults, Sequence) and not isinstance(faults, str):
        told += [_fault(fault, of) for fault in faults]
    return "; ".join(told)


def ledger_answer(value: Mapping[str, Any], of: Of) -> str | None:
    """What a call answered, e.g. `committed k1`; `None` if this is no answer of the ledger."""
    status = value.get("status")
    if isinstance(status, str) and status in _STANDING:
        return _standing(status, value, of)
    if "cutBytes" in value and "replayedEvents" in value:
        cut = f", cut {of(value['cutBytes'])} bytes" if value["cutBytes"] else ""
        replayed = f", replayed {of(value['replayedEvents'])}" if value["replayedEvents"] else ""
        return f"opened: mirror {of(value.get('mirror'))}{cut}{replayed}"
    return None


def _standing(status: str, value: Mapping[str, Any], of: Of) -> str:
    record = value.get("record")
    if isinstance(record, Mapping):
        return f"{status} {of(record.get('idempotencyKey'))}, state {of(value.get('state'))}"
    told = status
    if value.get("executedStepIds"):
        told += f", ran {_listed(value['executedStepIds'], of)}"
    if value.get("skippedStepIds"):
        told += f", skipped {_listed(value['skippedStepIds'], of)}"
    if "stoppedAtStepId" in value:
        told += f", stopped at {of(value['stoppedAtStepId'])}"
    return told


def _listed(names: object, of: Of) -> str:
    if isinstance(names, Sequence) and not isinstance(names, str):
        return " ".join(map(of, names))
    return of(names)


def _fault(fault: object, of: Of) -> str:
    if not isinstance(fault, Mapping):
        return of(fault)
    how = {"fails": "fails", "full": "finds the disk full", "locked": "finds the database locked"}
    kind = fault.get("kind")
    told = how.get(kind) if isinstance(kind, str) else None
    return f"{of(fault.get('moment'))} no. {of(fault.get('nth'))} {told or of(kind)}"


def _transact(action: Mapping[str, Any], of: Of) -> str:
    told = f"{of(action.get('client'))}: transact {of(action.get('idempotencyKey'))}"
    told += f" ({of(action.get('phase'))}), {_mutation(action.get('mutation'), of)}"
    if action.get("intent") is not None:
        told += f", intent {of(action['intent'])}"
    if "verifier" in action:
        told += f", verifier says {of(action['verifier'])}"
    return told


def _mutation(mutation: object, of: Of) -> str:
    if not isinstance(mutation, Mapping):
        return of(mutation)
    if "raises" in mutation:
        return "mutate raises"
    if "garbage" in mutation:
        return f"mutate returns {of(mutation['garbage'])}"
    if "increment" in mutation:
        return f"adds 1 to {of(mutation['increment'])}"
    told = [f"sets {of(mutation['set'])}"] if mutation.get("set") else []
    told += [f"removes {_listed(mutation['remove'], of)}"] if mutation.get("remove") else []
    return ", ".join(told) or "changes nothing"


def _steps(verb: str, key: str) -> Deed:
    def words(action: Mapping[str, Any], of: Of) -> str:
        steps = action.get("steps", ())
        known = isinstance(steps, Sequence) and not isinstance(steps, str)
        listed = [_step(step, of) for step in steps] if known else [of(steps)]
        where = f"{of(action.get('runId'))}" + (f"/{of(action[key])}" if key in action else "")
        return f"{of(action.get('client'))}: {verb} {where}: {', '.join(listed) or 'no steps'}"

    return words


def _step(step: object, of: Of) -> str:
    if not isinstance(step, Mapping):
        return of(step)
    told = of(step.get("id"))
    told += "" if step.get("idempotent") is True else " (not idempotent)"
    return told + (f" (raises {of(step['raises'])} its effect)" if step.get("raises") else "")


def _crash(action: Mapping[str, Any], of: Of) -> str:
    inside = action.get("inside")
    who = of(action.get("client"))
    if not isinstance(inside, Mapping):
        return f"{who} is killed, idle"
    words = ledger_words(inside, of) or of(inside)
    return f"{who} is killed at {of(action.get('at'))} of: {words}"


def _tamper(action: Mapping[str, Any], of: Of) -> str:
    told = f"tampering: {of(action.get('kind'))}"
    told += f", line {of(action['line'])}" if "line" in action else ""
    return told + (f", {of(action['n'])}" if "n" in action else "")


def _about(template: str) -> Deed:
    return lambda action, of: template.format(of(action.get("client")))


_DEEDS: Mapping[str, Deed] = {
    "openLedger": _about("{} opens the ledger"),
    "closeLedger": _about("{} closes the ledger"),
    "readState": _about("{} reads the state"),
    "transact": _transact,
    "applySteps": _steps("apply steps of", "receiptId"),
    "compensate": _steps("compensate", "idempotencyKey"),
    "crash": _crash,
    "tamper": _tamper,
}
