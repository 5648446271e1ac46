"""The ledger-gated store under test: actions go in, what came of them and what can be seen come out.

`LedgerTarget` is the project's own store in a real directory, in this process: several clients are several
open ledgers, which know nothing of each other. Effects are counted here, not by the store. Whatever comes out
of it that is no `LedgerError` of its own, and that no caller's function raised, is a `Crashed`: a violation.
It holds no opinion: expectations are the model's, comparing is `lockstep`'s.
"""

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from attrs import define, evolve, field

from impl import gated as store
from model.gated.actions import (
    Action,
    ApplySteps,
    CloseLedger,
    Compensate,
    CompensationStep,
    Crash,
    OpenLedger,
    ReadState,
    Step,
    Tamper,
    Transact,
)
from model.values import JSON
from stateful_tests.gated.callers import Caller, CallerError
from stateful_tests.gated.faults import DEATH_POINTS, DiedError, Watch
from stateful_tests.gated.observe import Observation, Observer
from stateful_tests.gated.order import RECORDED
from stateful_tests.gated.pragmas import Connections
from stateful_tests.gated.results import Answered, Crashed, Passed, Result, refusal, told
from stateful_tests.gated.tampering import Tampering


class UnknownClientError(LookupError):
    """An action names a client that has nothing open: the trace makes no sense, whatever the store does."""


@define
class Effects:
    """The side effects that happened, in order, and who is told of each as it begins and ends."""

    happened: list[JSON] = field(factory=list)
    tell: Callable[[str], None] = lambda _: None

    def of(self, run_id: str, key: str, kind: str, step: Step | CompensationStep) -> Callable[[], None]:
        """The function that a caller hands to the store for `step`."""

        def run() -> None:
            self.tell("run")
            if step.raises == "before":
                raise CallerError("step")
            effect: JSON = {"runId": run_id, "key": key, "kind": kind, "idempotent": step.idempotent}
            self.happened.append(effect)
            self.tell("ran")
            if step.raises == "after":
                raise CallerError("step")

        return run


class LedgerTarget:
    """The store in `directory`, which is made by the first opening."""

    def __init__(self, directory: Path, *, lock_timeout_s: float = 2.0) -> None:
        self.directory = directory
        self.effects = Effects()
        self.clients: dict[str, Any] = {}
        self.watch = Watch(directory)
        self.connections = Connections()
        self._observer = Observer(directory)
        self._tampering = Tampering(directory)
        self._lock_timeout_s = lock_timeout_s

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        for client in self.clients.values():
            client.close()
        self.clients.clear()
        self._observer.close()
        self._tampering.close()

    @property
    def struck(self) -> tuple[str, ...]:
        steps = self.watch.steps
        recorded = [f"recorded/{name}" for name in RECORDED if name in steps]
        asked = ["recorded/synchronous"] if self.connections.asked else []
        return (*(f"fault/{fault.moment}/{fault.kind}" for fault in self.watch.struck), *recorded, *asked)

    @property
    def meddled(self) -> int:
        return self._tampering.count

    def observe(self) -> Observation:
        seen = self._observer.look(tuple(self.effects.happened))
        problems = self.connections.problems
        return evolve(seen, problems=(*seen.problems, *problems)) if problems else seen

    def apply(self, action: Action) -> Result:
        self.watch = Watch(self.directory)
        self.connections = Connections()
        self.effects.tell = lambda _: None
        if isinstance(action, Tamper):
            self._tampering.tamper(action)
            return Answered(None)
        if isinstance(action, CloseLedger):
            self._taken(action.client).close()
            return Answered(None)
        if isinstance(action, Crash):
            return self._crash(action)
        self.watch = Watch(self.directory, action.faults)
        return self._call(action)

    def _crash(self, action: Crash) -> Result:
        """The client dies; what it leaves open is what the kernel closes."""
        if action.inside is not None:
            moment, _, nth = action.at.partition(":")
            self.watch = Watch(self.directory, action.inside.faults, (DEATH_POINTS[moment], int(nth or 1)))
            try:
                result = self._call(action.inside)
                if moment == "reply":
                    self.watch.dead = True
                elif not self.watch.dead:
                    return Crashed(f"it never comes to {action.at}, but ends with {result.to_json()}")
            except DiedError:
                pass
        client = self.clients.pop(action.client, None)
        if client is not None:
            client.close()
        return Answered(None)

    def _call(self, action: OpenLedger | Transact | ApplySteps | Compensate | ReadState) -> Result:
        if isinstance(action, Transact):
            caller = Caller(action)
            return caller.judged(self._made(action, lambda: _transaction(self._open_one(action), caller)))
        return self._made(action, lambda: self._do(action))

    def _made(
        self, action: OpenLedger | Transact | ApplySteps | Compensate | ReadState, call: Callable[[], JSON]
    ) -> Result:
        self.effects.tell = self.watch
        with self.connections.watching(), self.watch.watching():
            try:
                return Answered(call())
            except UnknownClientError:
                raise
            except store.LedgerError as error:
                return refusal(error, action, struck=bool(self.watch.struck))
            except CallerError as error:
                return Passed(error.kind, _rollback_failed(error))
            except ValueError as error:
                return Passed("value-error", _rollback_failed(error))
            except Exception as error:  # noqa: BLE001  # whatever a store raises is what we are here to see
                return Crashed(told(error))

    def _do(self, action: OpenLedger | ApplySteps | Compensate | ReadState) -> JSON:
        if isinstance(action, OpenLedger):
            return self._open(action)
        client = self._open_one(action)
        if isinstance(action, ApplySteps):
            return _applied(client.apply_steps(self._steps(action)))
        if isinstance(action, Compensate):
            return _compensated(client.compensate(self._compensation(action)))
        state: dict[str, JSON] = client.state()
        return state

    def _open_one(self, action: Transact | ApplySteps | Compensate | ReadState) -> Any:
        client = self.clients.get(action.client)
        if client is None:
            raise UnknownClientError(f"{action.client!r} has nothing open here")
        return client

    def _open(self, action: OpenLedger) -> JSON:
        former = self.clients.pop(action.client, None)
        if former is not None:
            former.close()
        opened = store.open_ledger(self.directory, lock_timeout_s=self._lock_timeout_s)
        self.clients[action.client] = opened
        report = opened.recovery
        return {
            "cutBytes": report.cut_bytes,
            "replayedEvents": report.replayed_events,
            "mirror": report.mirror,
            "setAside": bool(report.set_aside),
        }

    def _taken(self, name: str) -> Any:
        client = self.clients.pop(name, None)
        if client is None:
            raise UnknownClientError(f"{name!r} has nothing open here")
        return client

    def _steps(self, action: ApplySteps) -> store.ApplyRequest:
        steps = tuple(
            store.Step(
                id=step.id,
                receipt_id=step.receipt_id,
                sequence=step.sequence,
                idempotent=step.idempotent,
                before_state_hash=step.before_state_hash,
                after_state_hash=step.after_state_hash,
                run=self.effects.of(action.run_id, step.receipt_id, "step", step),
            )
            for step in action.steps
        )
        return store.ApplyRequest(
            run_id=action.run_id,
            node_id=action.node_id,
            operation_id=action.operation_id,
            steps=steps,
            attempt_id=action.attempt_id,
            event_type=action.event_type,
        )

    def _compensation(self, action: Compensate) -> store.CompensationRequest:
        steps = tuple(
            store.CompensationStep(
                id=step.id,
                sequence=step.sequence,
                idempotent=step.idempotent,
                applied=step.applied,
                run=self.effects.of(
                    action.run_id, f"{action.idempotency_key}:{step.id}", "compensator", step
                ),
            )
            for step in action.steps
        )
        return store.CompensationRequest(
            run_id=action.run_id,
            node_id=action.node_id,
            operation_id=action.operation_id,
            idempotency_key=action.idempotency_key,
            before_state_hash=action.before_state_hash,
            after_state_hash=action.after_state_hash,
            steps=steps,
            attempt_id=action.attempt_id,
        )


def _rollback_failed(error: BaseException) -> bool:
    return any("rollback failed" in note for note in getattr(error, "__notes__", ()))


def _transaction(client: Any, caller: Caller) -> dict[str, JSON]:
    result: store.TransactionResult = client.transact(caller.request())
    return {
        "status": result.status,
        "applied": result.applied,
        "record": _record(result.record),
        "state": result.state,
    }


def _applied(result: store.ApplyResult) -> dict[str, JSON]:
    form: dict[str, JSON] = {
        "status": result.status,
        "executedStepIds": list(result.executed_step_ids),
        "skippedStepIds": list(result.skipped_step_ids),
        "receipts": [_record(receipt) for receipt in result.receipts],
    }
    if result.stopped_at_step_id is not None:
        form["stoppedAtStepId"] = result.stopped_at_step_id
    return form


def _compensated(result: store.CompensationResult) -> dict[str, JSON]:
    return {
        "status": result.status,
        "executedStepIds": list(result.executed_step_ids),
        "receipts": [_record(receipt) for receipt in result.receipts],
    }


def _record(record: store.LedgerRecord) -> dict[str, JSON]:
    form: dict[str, JSON] = {
        "operationId": record.operation_id,
        "runId": record.run_id,
        "nodeId": record.node_id,
        "eventType": record.event_type,
        "phase": record.phase,
        "idempotencyKey": record.idempotency_key,
        "beforeStateHash": record.before_state_hash,
        "afterStateHash": record.after_state_hash,
        "eventHash": record.event_hash,
    }
    if record.attempt_id is not None:
        form["attemptId"] = record.attempt_id
    return form
