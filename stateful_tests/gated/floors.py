"""What a run must have seen of the second system to be worth a verdict, as counts by `LedgerCoverage` key.

The table of actions and outcomes is the specification's, with the readings of both tellings where it is
silent: a pair stands in it if some world, request or failing step leads to it.
"""

from collections.abc import Mapping
from typing import Final

from model.gated.actions import FAULTS, TAMPERINGS
from model.gated.invariants import INVARIANTS
from stateful_tests.gated.coverage import PREFIX
from stateful_tests.gated.order import RECORDED

_APPEND: Final = "LEDGER_APPEND_REQUIRED_FAILED"
_BROKEN: Final = "LEDGER_INTEGRITY_FAILED, operator"
_CONFLICT: Final = "IDEMPOTENCY_CONFLICT, operator"
_DOUBT: Final = "SQLITE_MIRROR_FAILED, in_doubt"
_REQUIRED: Final = tuple(f"{_APPEND}, {each}" for each in ("retry", "rollback", "in_doubt", "operator"))

OUTCOMES: Final[Mapping[str, tuple[str, ...]]] = {
    "openLedger": ("accepted", _BROKEN, _DOUBT, f"{_APPEND}, in_doubt"),
    "transact": (
        *("accepted", "noop", "raised mutation", "raised value-error"),
        *(f"{_APPEND}, {each}" for each in ("rollback", "in_doubt", "operator")),
        *(_BROKEN, _CONFLICT, _DOUBT, "SQLITE_MIRROR_FAILED, retry"),
        *("SQLITE_COMMIT_AFTER_LEDGER_FAILED, in_doubt", "VERIFY_GATE_FAILED, rollback"),
    ),
    "applySteps": (
        *("accepted", "in_doubt", "raised step", "raised value-error"),
        *(*_REQUIRED, _BROKEN, _CONFLICT, _DOUBT),
    ),
    "compensate": (
        *("accepted", "raised value-error", "COMPENSATION_FAILED, in_doubt"),
        *(*_REQUIRED, _CONFLICT),
    ),
    "readState": ("accepted", _BROKEN, _DOUBT, f"{_APPEND}, operator"),
    "closeLedger": ("accepted",),
    "crash": ("accepted",),
    "tamper": ("accepted",),
}
"""Each action with every outcome that a run must have seen."""

DEATHS: Final[Mapping[str, tuple[str, ...]]] = {
    "openLedger": (
        *("open", "ledger-created", "aside", "set-aside", "build", "catch-up", "caught-up", "built"),
        *("renamed", "cut", "cut-done", "cut-fsync", "cut-synced", "reply"),
    ),
    **dict.fromkeys(
        ("transact", "applySteps", "compensate"),
        (
            *("begin", "begun", "append", "append-torn", "append-written", "append-fsync"),
            *("append-synced", "mirror", "mirrored", "commit", "committed", "reply"),
            *("cut", "cut-done", "cut-fsync", "cut-synced", "rollback", "rolled-back"),
        ),
    ),
    "nothing": ("idle",),
}
"""Each call with the small steps at which a client must have died in it."""


def conformance(least: int) -> dict[str, int]:
    """Every action with every outcome, every failing step, death and tampering: `least` times."""
    keys = [f"rule/{name}/{outcome}" for name, outcomes in OUTCOMES.items() for outcome in outcomes]
    keys += [f"fault/{moment}/{kind}" for moment, kinds in FAULTS.items() for kind in kinds]
    keys += [f"death/{name}/{moment}" for name, moments in DEATHS.items() for moment in moments]
    keys += [f"death/{name}/{moment}" for name in ("applySteps", "compensate") for moment in ("run", "ran")]
    keys += [f"tamper/{kind}" for kind in TAMPERINGS]
    keys += [f"clients/{count}" for count in (1, 2, 3)]
    keys += [f"recorded/{name}" for name in (*RECORDED, "synchronous")]
    return {f"{PREFIX}{key}": least for key in keys}


def invariants(least: int) -> dict[str, int]:
    """Every invariant checked, and its witness seen, `least` times."""
    keys = [f"{what}/{each.id}" for each in INVARIANTS for what in ("invariant", "witness")]
    return {f"{PREFIX}{key}": least for key in keys}
