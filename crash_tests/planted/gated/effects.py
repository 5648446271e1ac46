"""Faults of steps and compensations: what runs, in which order, how often, and what is durable before."""

from typing import Final

from crash_tests.planted.plant import Change, Fault

_STEPS: Final = "impl.gated.steps"
_COMPENSATION: Final = "impl.gated.compensation"
_EVENTS: Final = "impl.gated.events"
_L2: Final = "L2: a durable started event before it; started without receipt -> in_doubt"
_L3: Final = "L3: known keys are skipped: one start, one receipt each"
_L4: Final = "L4: ValueError before anything runs or is written"
_RECEIPTS: Final = "apply_receipted_steps: runs steps in sequence order and records a receipt after each"
_START: Final = "run_gated_compensation: the start event is itself required"
_IDEMPOTENT: Final = "run_gated_compensation: only idempotent compensators run, applied or not"

_CALL_START: Final = "    _start(handle, _event(request, place, request.idempotency_key))\n"
_RUN: Final = "        step.run()\n        executed.append(step.id)\n"
_TRY_RECEIPT: Final = (
    "        try:\n            receipts.append(same_kind(handle.record(receipt).record, receipt))\n"
)
_RECORD: Final = (
    "    return pass_gate(deps, record, (record.run_id, record.idempotency_key), answer, stage)\n"
)
_FIND_COMPENSATED: Final = "        known = find_event(handle, receipt)\n        if known is None:\n"
_COMPENSATED: Final = "            _run(step, place)\n            executed.append(step.id)\n"
_COMPENSATION_RECEIPT: Final = (
    "            known = _required(handle, receipt, "
    'f"compensator {step.id!r} ran, but its receipt", "in_doubt")\n'
)


def _l4(name: str, sentence: str, module: str, line: str) -> Fault:
    return Fault(f"l4-{name}", sentence, _L4, (Change(module, line, ""),))


FAULTS: Final = (
    Fault(
        "receipt-before-the-effect",
        "A step's receipt is written before it runs.",
        _RECEIPTS,
        (
            Change(
                _STEPS,
                f"{_RUN}{_TRY_RECEIPT}",
                f"{_TRY_RECEIPT}            step.run()\n            executed.append(step.id)\n",
            ),
        ),
    ),
    Fault(
        "compensation-receipt-before-the-effect",
        "A compensator's receipt is written before it runs.",
        "run_gated_compensation: each followed by its own receipt",
        (
            Change(
                _COMPENSATION,
                f"{_COMPENSATED}{_COMPENSATION_RECEIPT}",
                f"{_COMPENSATION_RECEIPT}{_COMPENSATED}",
            ),
        ),
    ),
    Fault(
        "step-with-a-receipt-runs-again",
        "A step whose receipt is durable runs again.",
        "apply_receipted_steps: a receipt already durable: the step is skipped, never run again",
        (
            Change(
                _STEPS,
                "        known = find_event(handle, receipt)\n        if known is not None:\n",
                "        known = find_event(handle, receipt)\n        if False:\n",
            ),
        ),
    ),
    Fault(
        "steps-in-the-order-given",
        "Steps run in the order in which they are given.",
        _RECEIPTS,
        (
            Change(
                _STEPS,
                "    return sorted(steps, key=lambda step: step.sequence)\n",
                "    return list(steps)\n",
            ),
        ),
    ),
    Fault(
        "goes-on-without-a-receipt",
        "Steps go on after one whose receipt could not be appended.",
        "apply_receipted_steps: no later step runs",
        (
            Change(
                _STEPS,
                "            if found is None:\n                reason",
                "            if found is None:\n                continue\n                reason",
            ),
        ),
    ),
    Fault(
        "durable-receipt-not-looked-for",
        "A receipt whose append failed is not looked for, though it may be durable all the same.",
        "apply_receipted_steps: if the receipt is durable all the same, go on",
        (
            Change(
                _STEPS,
                "            found = _durable_all_the_same(handle, receipt)\n",
                "            found = None\n",
            ),
        ),
    ),
    Fault(
        "receipts-keyed-without-their-run",
        "A receipt id that is known in one run is known in every run.",
        "apply_receipted_steps: the same id in another run is another receipt",
        (
            Change(
                "impl.gated.records",
                '    return run_id if phase in STEP_PHASES else ""\n',
                '    return "-" if phase in STEP_PHASES else ""\n',
            ),
            Change(
                "impl.gated.lines",
                'run if phase in STEP_PHASES else ""',
                '"-" if phase in STEP_PHASES else ""',
            ),
            Change(_EVENTS, _RECORD, _RECORD.replace("record.run_id", '"-"')),
            Change("impl.gated.store", "access.find(run_id, key)", 'access.find("-", key)'),
        ),
    ),
    Fault(
        "l2-no-start-before-a-step",
        "A step that isn't idempotent runs without a durable start.",
        _L2,
        (
            Change(
                _STEPS,
                "        if not step.idempotent and not _start(handle, request, step):\n",
                "        if False:\n",
            ),
        ),
    ),
    Fault(
        "l2-started-step-runs-again",
        "A step that isn't idempotent, was started and has no receipt runs again.",
        _L2,
        (
            Change(
                _STEPS,
                "    if find_event(handle, start) is not None:\n        return False\n",
                "    if find_event(handle, start) is not None:\n        return True\n",
            ),
        ),
    ),
    Fault(
        "l2-step-runs-though-its-start-failed",
        "A step that isn't idempotent runs though its start could not be appended.",
        _L2,
        (
            Change(
                _STEPS,
                "        if _durable_all_the_same(handle, start) is None:\n",
                "        if False:\n",
            ),
        ),
    ),
    Fault(
        "l3-compensators-run-again",
        "A compensator whose receipt is durable runs again.",
        _L3,
        (
            Change(
                _COMPENSATION,
                _FIND_COMPENSATED,
                "        known = None\n        if known is None:\n",
            ),
        ),
    ),
    Fault(
        "l3-start-and-receipts-appended-again",
        "Compensating again appends start and receipts a second time.",
        _L3,
        (
            Change(_EVENTS, _RECORD, _RECORD.replace("record.idempotency_key", "record.idempotency_key * 2")),
            Change(
                _COMPENSATION,
                _FIND_COMPENSATED,
                "        known = None\n        if known is None:\n",
            ),
        ),
    ),
    Fault(
        "compensators-in-forward-order",
        "Compensators run in the order in which the steps ran.",
        "run_gated_compensation: in reverse sequence order",
        (Change(_COMPENSATION, ", reverse=True)", ", reverse=False)"),),
    ),
    Fault(
        "compensators-without-a-start",
        "Compensators run without a durable start event.",
        _START,
        (Change(_COMPENSATION, _CALL_START, ""),),
    ),
    Fault(
        "compensators-run-though-their-start-failed",
        "Compensators run though the start event could not be appended.",
        _START,
        (
            Change(
                _COMPENSATION,
                _CALL_START,
                "    try:\n"
                "        _start(handle, _event(request, place, request.idempotency_key))\n"
                "    except LedgerError:\n"
                "        pass\n",
            ),
        ),
    ),
    Fault(
        "compensation-of-other-content-accepted",
        "A known compensation start with other content is taken for this one.",
        "run_gated_compensation: a known start with other content: IDEMPOTENCY_CONFLICT",
        (
            Change(
                _EVENTS,
                "    if kind != asked or (exactly and found.event_hash != wanted.event_hash):\n",
                "    if kind != asked:\n",
            ),
        ),
    ),
    Fault(
        "what-is-not-idempotent-compensated",
        "A step that isn't idempotent and was applied doesn't stop its compensation.",
        "run_gated_compensation: any step that is not idempotent and was applied -> COMPENSATION_FAILED",
        (
            Change(
                _COMPENSATION,
                "        if not step.idempotent and step.applied:\n",
                "        if False:\n",
            ),
        ),
    ),
    Fault(
        "compensators-that-are-not-idempotent-run",
        "Compensators that aren't idempotent run, too.",
        _IDEMPOTENT,
        (
            Change(
                _COMPENSATION,
                "        if not step.idempotent:\n            continue\n",
                "",
            ),
        ),
    ),
    Fault(
        "compensators-of-what-was-not-applied-left-out",
        "Compensators of steps that were not applied don't run.",
        _IDEMPOTENT,
        (
            Change(
                _COMPENSATION,
                "        if not step.idempotent:\n            continue\n",
                "        if not step.idempotent or not step.applied:\n            continue\n",
            ),
        ),
    ),
    Fault(
        "compensation-receipts-left-out",
        "A compensator leaves no receipt.",
        "run_gated_compensation: each followed by its own receipt",
        (Change(_COMPENSATION, _COMPENSATION_RECEIPT, "            known = receipt\n"),),
    ),
    _l4(
        "equal-sequences",
        "Steps of equal sequence run in the order in which they are given.",
        _STEPS,
        '    refuse_twice("sequence", (step.sequence for step in steps))\n',
    ),
    _l4(
        "equal-ids",
        "Two steps may have the same id.",
        _STEPS,
        '    refuse_twice("step id", (step.id for step in steps))\n',
    ),
    _l4(
        "colliding-receipts",
        "Two steps may have the same receipt key.",
        _STEPS,
        '    refuse_twice("receipt key", [*(step.receipt_id for step in steps), *starts])\n',
    ),
    _l4(
        "compensators-of-equal-sequence",
        "Compensators of equal sequence run in the order in which they are given.",
        _COMPENSATION,
        '    refuse_twice("sequence", (step.sequence for step in request.steps))\n',
    ),
    _l4(
        "compensators-of-equal-id",
        "Two compensators may have the same id.",
        _COMPENSATION,
        '    refuse_twice("step id", (step.id for step in request.steps))\n',
    ),
)
