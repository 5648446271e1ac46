"""Faults of idempotency: who is known, who is a retry, and what a transaction starts from."""

from typing import Final

from crash_tests.planted.plant import Change, Fault

_GATE: Final = "impl.gated.gate"
_TRANSACTION: Final = "impl.gated.transaction"
_CATCHUP: Final = "impl.gated.catchup"
_REPLAY: Final = "            mirror.replay(new)\n"
_L1: Final = "L1: keys are looked up first and matched by requestHash"

FAULTS: Final = (
    Fault(
        "retry-appended-twice",
        "A request whose key is known is appended once more.",
        "run_ledger_gated_transaction, 2: known, same requestHash -> noop",
        (Change(_GATE, "        if known is None:\n", "        if True:\n"),),
    ),
    Fault(
        "l1-retry-matched-by-its-event-hash",
        "A retry is matched by the event that it would make of the state as it stands now.",
        _L1,
        (
            Change(
                _TRANSACTION,
                "        if known.request_hash != asked:\n",
                "        if known.record.event_hash != stage(handle)[0].record.event_hash:\n",
            ),
        ),
    ),
    Fault(
        "l1-mutate-called-before-the-key-is-looked-up",
        "A retry calls mutate before its key is looked up.",
        _L1,
        (
            Change(
                _GATE,
                "        if known is None:\n            draft, result = stage(handle)\n",
                "        draft, result = stage(handle)\n        if known is None:\n",
            ),
        ),
    ),
    Fault(
        "conflict-ignored",
        "Another request under a known key is answered as a retry.",
        "run_ledger_gated_transaction, 2: known, another -> IDEMPOTENCY_CONFLICT",
        (Change(_TRANSACTION, "        if known.request_hash != asked:\n", "        if False:\n"),),
    ),
    Fault(
        "intent-not-part-of-a-request",
        "Requests that differ in their intent alone are taken for the same.",
        "records: whoever changes what mutate does changes the intent",
        (
            Change(
                "impl.gated.records",
                "request.idempotency_key, canonical(request.intent))\n",
                'request.idempotency_key, "null")\n',
            ),
        ),
    ),
    Fault(
        "noop-with-an-older-state",
        "A retry is answered without the state as it stands now.",
        "run_ledger_gated_transaction, 2: return noop with the stored record and the present state",
        (
            Change(
                _TRANSACTION,
                'TransactionResult("noop", False, known.record, _state(handle.snapshot()))',
                'TransactionResult("noop", False, known.record, {})',
            ),
        ),
    ),
    Fault(
        "l6-not-caught-up",
        "Before a transaction the mirror is not caught up with what was appended.",
        "L6",
        (Change(_CATCHUP, _REPLAY, "            pass\n"),),
    ),
    Fault(
        "sequence-taken-from-the-mirror",
        "The next sequence is the mirror's and one, though the ledger may be longer.",
        "records: sequence counts from 1 without gaps; the ledger is the authority",
        (
            Change(_CATCHUP, _REPLAY, "            pass\n"),
            Change(
                _CATCHUP,
                "        return tail.end\n",
                "        return head._replace(length=tail.end.length, last=tail.end.last)\n",
            ),
        ),
    ),
    Fault(
        "appended-where-the-mirror-ends",
        "An event is written where the mirror's last one ends, over what was appended since.",
        "the promise: the ledger is the authority",
        (Change(_CATCHUP, "        if size == head.length:\n", "        if size >= head.length:\n"),),
    ),
    Fault(
        "torn-tail-of-another-stays",
        "What a client that died has left half-written is not cut off by the next call of another.",
        "run_ledger_gated_transaction, 1: caught up as at opening",
        (
            Change(
                _CATCHUP,
                "        if tail.size:\n            try:\n",
                "        if False:\n            try:\n",
            ),
            Change(
                _CATCHUP,
                "        return tail.end\n",
                "        return tail.end._replace(length=size)\n",
            ),
        ),
    ),
    Fault(
        "end-of-the-ledger-not-looked-at",
        "What stands at the end of the ledger is not held against the mirror before a call.",
        "recovery: a bad last line that the mirror has seen -> LEDGER_INTEGRITY_FAILED",
        (Change(_CATCHUP, "        _check_last(journal, head, seen)\n", ""),),
    ),
    Fault(
        "shorter-ledger-accepted-before-a-call",
        "A ledger that is shorter than what the mirror has seen is written to.",
        "recovery: a mirror ahead of the ledger -> LEDGER_INTEGRITY_FAILED",
        (
            Change(_CATCHUP, "        if size < head.length:\n", "        if False:\n"),
            Change(
                _CATCHUP,
                "        _check_last(journal, head, seen)\n        if size == head.length:\n",
                "        if size <= head.length:\n",
            ),
        ),
    ),
)
