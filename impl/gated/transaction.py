"""run_ledger_gated_transaction: one mutation, once.

Guarantees: a key that is known with the same request answers "noop" without calling `mutate`; with another
request it is a conflict. `mutate` and `verify` get copies. What `mutate` returns is checked before the
verifier sees it, and the verifier is asked before anything is written.

Doesn't: know how anything is stored; see `gate`.
"""

import json
from collections.abc import Mapping

from impl.gated.errors import CONFLICT, VERIFY_FAILED, LedgerError
from impl.gated.gate import Deps, Handle, Known, pass_gate
from impl.gated.lines import Draft
from impl.gated.records import make_record, request_hash
from impl.gated.state import canonical, check_state, in_order, state_text, text_hash
from impl.gated.values import Change, Request, State, TransactionResult


def run_ledger_gated_transaction(deps: Deps, request: Request) -> TransactionResult:
    """Let `request` happen, once. Raises LedgerError, and what `mutate` or `verify` raise."""
    asked = request_hash(request)

    def answer(handle: Handle, known: Known) -> TransactionResult:
        if known.request_hash != asked:
            raise LedgerError(
                CONFLICT,
                f"the key {request.idempotency_key[:200]!r} is known, for another request (operation "
                f"{known.record.operation_id[:200]!r}); use a key of its own for each request",
                "operator",
            ).at(request)
        return TransactionResult("noop", False, known.record, _state(handle.snapshot()))

    def stage(handle: Handle) -> tuple[Draft, TransactionResult]:
        before = handle.snapshot()
        before_text = state_text(before)
        staged = request.mutate(json.loads(before_text))
        check_state(staged)
        after = {name: canonical(row) for name, row in staged.items()}
        after_text = state_text(after)
        _verify(request, after_text)
        record = make_record(request, request.idempotency_key, text_hash(before_text), text_hash(after_text))
        draft = Draft(record, asked, change_between(before, after))
        return draft, TransactionResult("committed", True, record, json.loads(after_text))

    return pass_gate(deps, request, ("", request.idempotency_key), answer, stage)


def _verify(request: Request, staged_text: str) -> None:
    if request.verify is not None and request.verify(json.loads(staged_text)) is not True:
        raise LedgerError(
            VERIFY_FAILED,
            f"the verifier of operation {request.operation_id[:200]!r} said no; nothing was appended",
            "rollback",
        ).at(request)


def _state(rows: Mapping[str, str]) -> State:
    return {name: json.loads(text) for name, text in rows.items()}


def change_between(before: Mapping[str, str], after: Mapping[str, str]) -> Change:
    """What leads from one state to another, both given as canonical texts of rows."""
    return Change(
        {name: json.loads(text) for name, text in after.items() if before.get(name) != text},
        tuple(in_order(name for name in before if name not in after)),
    )
