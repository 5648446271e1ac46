"""Faults in what becomes of a reservation: capacity, commit, renew, release, and the sweep.

Where the state's own validation before publishing would turn a fault into the very refusal that is right,
the fault takes that check away as well: a store that is wrong and says so with the right code is not wrong.
"""

from typing import Final

from crash_tests.planted.plant import Change, Fault

_LIFECYCLE: Final = "impl.operations.lifecycle"
_SWEEP: Final = "impl.sweep"
_VALIDATE: Final = "impl.validate"

_NO_S8: Final = Change(
    _VALIDATE,
    "other = bindings.setdefault(reservation.binding, key)",
    "other = key",
)

FAULTS: Final[tuple[Fault, ...]] = (
    Fault(
        "capacity-off-by-one",
        "One slot more than the maximum is granted, and the state that says so is published.",
        "S10",
        (
            Change(_LIFECYCLE, "if held >= work.max_active_runs:", "if held > work.max_active_runs:"),
            Change(_VALIDATE, "if held > state.max_active_runs:", "if held > state.max_active_runs + 1:"),
        ),
    ),
    Fault(
        "capacity-guard-tests-for-equality",
        "A slot is refused only where exactly the maximum is held, not where more are.",
        "reserve",
        (Change(_LIFECYCLE, "if held >= work.max_active_runs:", "if held == work.max_active_runs:"),),
        equivalent="A state in which more than the maximum is held breaks S10, and is refused when it is "
        "read, before any operation sees it; a sweep never adds a slot, and setMaxActiveRuns never goes "
        "below what is held. So at the guard no more than the maximum is ever held.",
    ),
    Fault(
        "capacity-one-short",
        "The last slot is never granted.",
        "reserve",
        (Change(_LIFECYCLE, "if held >= work.max_active_runs:", "if held + 1 >= work.max_active_runs:"),),
    ),
    Fault(
        "ttl-kept-on-commit",
        "A committed row keeps its time to live.",
        "S6",
        (
            Change(
                _LIFECYCLE,
                'state="committed", coordinator_epoch=work.epoch, reserved_expires_at=None)',
                'state="committed", coordinator_epoch=work.epoch)',
            ),
        ),
    ),
    Fault(
        "ttl-kept-on-commit-and-s6-unchecked",
        "A committed row keeps its time to live, and the state that says so is published.",
        "S6",
        (
            Change(
                _LIFECYCLE,
                'state="committed", coordinator_epoch=work.epoch, reserved_expires_at=None)',
                'state="committed", coordinator_epoch=work.epoch)',
            ),
            Change(
                _VALIDATE,
                "            if reservation.reserved_expires_at is not None:\n",
                "            if False:\n",
            ),
        ),
    ),
    Fault(
        "binding-committed-twice",
        "A second reservation of one run is committed beside the first.",
        "S8",
        (Change(_LIFECYCLE, "if work.binding_is_taken(row):", "if False:"), _NO_S8),
    ),
    Fault(
        "terminal-id-reused",
        "The id of a released or expired reservation can be reserved again.",
        "Terminal rows never hold a slot again; ids are never reused",
        (
            Change(
                _LIFECYCLE,
                "    if row is not None:\n        owned(work, row)\n",
                "    if row is not None and row.reservation.state in HOLDING:\n        owned(work, row)\n",
            ),
        ),
    ),
    Fault(
        "renew-gives-a-committed-row-a-ttl",
        "Renewing a committed row with a TTL gives it one, and the state that says so is published.",
        "S6",
        (
            Change(
                _LIFECYCLE,
                '        conflict(row, "an admitted run never gets a time to live; leave ttlMs out")\n',
                "        expires_at = work.now + ttl_ms\n",
            ),
            Change(
                _VALIDATE,
                "            if reservation.reserved_expires_at is not None:\n",
                "            if False:\n",
            ),
        ),
    ),
    Fault(
        "commit-across-its-ttl",
        "A proof that arrives after the reservation's time has passed still commits it.",
        "commit",
        (
            Change(
                _LIFECYCLE,
                "    if expires_at <= work.look():\n        conflict(",
                "    if False:\n        conflict(",
            ),
        ),
    ),
    Fault(
        "release-with-a-live-process",
        "A slot comes back although a process of the run may be alive.",
        "normalRelease",
        (
            Change(
                "impl.operations.release",
                'if proof.get("providerNoLiveProcessTree") is not True:',
                "if False:",
            ),
        ),
    ),
    Fault(
        "sweep-trusts-not-admitted",
        "The sweep frees a slot on a mere observation that the run is not admitted.",
        "True capacity; Sweep",
        (
            Change(
                _SWEEP,
                "    if proof is None or not proof.names(row.reservation):\n        return\n",
                '    if isinstance(answer, dict) and answer.get("status") == "not-admitted":\n'
                '        expired = evolve(row.reservation, state="expired", reserved_expires_at=None)\n'
                "        work.put(row, expired, updated_at=seen_at)\n"
                "        return\n"
                "    if proof is None or not proof.names(row.reservation):\n        return\n",
            ),
        ),
    ),
    Fault(
        "sweep-takes-any-proof",
        "The sweep believes a proof that names another reservation.",
        "Sweep",
        (
            Change(
                _SWEEP,
                "if proof is None or not proof.names(row.reservation):",
                "if proof is None:",
            ),
        ),
    ),
    Fault(
        "sweep-frees-a-committed-row",
        "A committed row that has shown no sign of life for a minute is freed by the sweep.",
        "Time alone never frees an admitted run's slot",
        (
            Change(
                _SWEEP,
                "    for row in due:\n",
                "    for row in list(work.rows.values()):\n"
                '        if row.reservation.state == "committed" and row.updated_at + 60_000 <= at:\n'
                '            work.put(row, evolve(row.reservation, state="expired"), updated_at=at)\n'
                "    for row in due:\n",
            ),
        ),
    ),
    Fault(
        "sweep-forgets-the-fence",
        "After a row's calls the sweep doesn't look whether this host still holds the lease.",
        "Sweep",
        (
            Change(
                _SWEEP,
                "        seen_at = work.look()\n        work.fence()\n",
                "        seen_at = work.look()\n",
            ),
        ),
    ),
    Fault(
        "failing-arbitration-frees",
        "Where arbitration fails, the sweep takes the project's silence for abandonment.",
        "Sweep",
        (
            Change(
                _SWEEP,
                "        work.look()\n        return _SKIP\n",
                "        work.look()\n"
                '        expired = evolve(reservation, state="expired", reserved_expires_at=None)\n'
                "        work.put(work.rows[reservation.reservation_id], expired, updated_at=work.look())\n"
                "        return _SKIP\n",
            ),
        ),
    ),
)
