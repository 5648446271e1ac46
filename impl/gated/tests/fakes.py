"""Handles without a store: what the algorithms do is written down, and any step can be made to fail.

Doesn't: check anything by itself.
"""

from collections.abc import Mapping

from attrs import define, field

from impl.gated.errors import LedgerError, UncutError
from impl.gated.events import Recorded
from impl.gated.gate import Known
from impl.gated.lines import Draft
from impl.gated.values import LedgerRecord


@define
class FakeDeps:
    """Begins transactions on a state in memory. `fails` names the steps that raise, and what."""

    rows: dict[str, str] = field(factory=dict)
    known: dict[tuple[str, str], Known] = field(factory=dict)
    fails: dict[str, Exception] = field(factory=dict)
    done: list[str] = field(factory=list)
    drafts: list[Draft] = field(factory=list)

    def step(self, name: str) -> None:
        """Write a step down, and fail it if it is to fail."""
        self.done.append(name)
        if name in self.fails:
            raise self.fails[name]

    def begin(self) -> "FakeTransaction":
        self.step("begin")
        return FakeTransaction(self)


@define
class FakeTransaction:
    """A transaction on a state in memory."""

    deps: FakeDeps

    def find(self, scope: str, key: str) -> Known | None:
        self.deps.step("find")
        return self.deps.known.get((scope, key))

    def snapshot(self) -> Mapping[str, str]:
        self.deps.step("snapshot")
        return dict(self.deps.rows)

    def append(self, draft: Draft) -> None:
        self.deps.step("append")
        self.deps.drafts.append(draft)

    def mirror(self, draft: Draft) -> None:
        self.deps.step("mirror")
        assert self.deps.drafts[-1] is draft

    def commit(self) -> None:
        self.deps.step("commit")
        draft = self.deps.drafts[-1]
        self.deps.known[draft.scope, draft.record.idempotency_key] = Known(draft.record, draft.request_hash)

    def rollback(self) -> None:
        self.deps.step("rollback")


@define
class FakeEvents:
    """Durable events in memory. `lose`: keys whose append fails; `keep`: fails, but is durable anyway."""

    events: dict[tuple[str, str], LedgerRecord] = field(factory=dict)
    lose: dict[str, Exception] = field(factory=dict)
    keep: set[str] = field(factory=set)
    blind: bool = False
    """Whether looking fails once an append has failed."""
    written: list[str] = field(factory=list)
    failed: bool = False

    def find(self, run_id: str, key: str) -> LedgerRecord | None:
        if self.blind and self.failed:
            raise LedgerError("LEDGER_APPEND_REQUIRED_FAILED", "poisoned", "operator")
        return self.events.get((run_id, key))

    def record(self, record: LedgerRecord) -> Recorded:
        here = (record.run_id, record.idempotency_key)
        if here in self.events:
            return Recorded(self.events[here], fresh=False)
        if record.idempotency_key in self.lose:
            self.failed = True
            raise self.lose[record.idempotency_key]
        self.events[here] = record
        self.written.append(record.idempotency_key)
        if record.idempotency_key in self.keep:
            self.failed = True
            raise LedgerError("SQLITE_MIRROR_FAILED", "not mirrored", "in_doubt")
        return Recorded(record, fresh=True)


def uncut() -> UncutError:
    return UncutError("it could not be cut off")
