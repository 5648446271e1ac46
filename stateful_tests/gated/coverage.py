"""What a run has really exercised of the second system, counted by flat key.

- `ledger/rule/<action>/<outcome>`: an action with this outcome, on both sides
- `ledger/fault/<moment>/<kind>`: a failing step that struck, not one that was only planned
- `ledger/recorded/<step>`: a call with this step, whose recorded steps were judged;
  `ledger/recorded/synchronous`: one that made a connection to the mirror, which was asked how it is set
- `ledger/death/<action>/<moment>`: a client that died inside an action, at this small step
- `ledger/tamper/<kind>`, `ledger/opened-after/<kind>/<outcome>`: a tampering, and what the next opening said
- `ledger/clients/<n>`: a call while n clients had the store open
- `ledger/declined/<action>`: not sent; counted apart, and worth nothing

Counts are functions of the seed alone. They say what ran, not that it was checked well.
"""

from collections import Counter

from model.gated.actions import Call, Crash, OpenLedger, Tamper
from model.gated.values import World
from stateful_tests.gated.lockstep import name_of, outcome_name
from stateful_tests.pair import StepRecord

PREFIX = "ledger/"


class LedgerCoverage:
    """Counts what one job saw."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._tampered: list[str] = []

    def see(self, before: World, record: StepRecord, after: World) -> None:  # noqa: ARG002  # others ask it
        """Counts one step that started in `before`."""
        action, name = record.action, name_of(record.action).partition(" ")[0]
        if record.declined:
            self._count(f"declined/{name}")
            return
        outcome = outcome_name(record.expected)
        self._count(f"rule/{name}/{outcome}")
        for key in record.struck:
            self._count(key)
        if isinstance(action, Crash):
            inside = name_of(action.inside) if action.inside is not None else "nothing"
            self._count(f"death/{inside}/{action.at.partition(':')[0]}")
        if isinstance(action, Tamper):
            self._count(f"tamper/{action.kind}")
            self._tampered.append(action.kind)
        if isinstance(action, Call):
            self._count(f"clients/{len(before.clients)}")
        if isinstance(action, OpenLedger):
            for kind in self._tampered:
                self._count(f"opened-after/{kind}/{outcome}")
            self._tampered.clear()

    def _count(self, key: str) -> None:
        self.counts[f"{PREFIX}{key}"] += 1
