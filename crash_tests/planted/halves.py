"""Faults of looking at half: guards that compare a part, counts that leave some out, callbacks told little.

The store does all that it does otherwise, so short stories about one run, one row and one host get past them.
"""

from typing import Final

from crash_tests.planted.plant import Change, Fault

_AUTHORITY: Final = "impl.authority"
_COMMANDS: Final = "impl.operations.commands"
_LIFECYCLE: Final = "impl.operations.lifecycle"
_SWEEP: Final = "impl.sweep"
_TRANSACTION: Final = "impl.transaction"
_WORK: Final = "impl.work"

_NAMES: Final = (
    "        return self.reservation_id == reservation.reservation_id"
    " and self.binding == reservation.binding\n"
)
_NAMES_A_RUN: Final = _NAMES.replace("binding == reservation.binding", "binding[2] == reservation.run_id")
_HEAD: Final = (
    "\n    def names(self, reservation: Reservation) -> bool:\n"
    '        """Whether it is about this reservation and this binding."""\n'
)
_OF_ADMISSION: Final = f"    run_version: int\n{_HEAD}"
_OF_ABANDONMENT: Final = f"    reservation_id: str\n    binding: tuple[str, str, str]\n{_HEAD}"
_COUNT: Final = "return sum(row.reservation.state in HOLDING for"
_FEWER: Final = 'return sum(row.reservation.state in ("reserved", "committed") for'
_HELD_BEFORE: Final = (
    '    held = sum(row.reservation.state in ("reserved", "committed", "orphan-suspect")\n'
    "               for row in work.base.state.reservations.values())\n"
)

_BINDINGS: Final[tuple[Fault, ...]] = (
    Fault(
        "reserve-compares-the-run-alone",
        "A known id under another project or domain is taken for the same reservation, if the run id is.",
        "reserve",
        (
            Change(
                _LIFECYCLE,
                "if row.reservation.binding != proposed.binding:",
                "if row.reservation.run_id != proposed.run_id:",
            ),
        ),
    ),
    Fault(
        "slot-taken-by-the-run-id-alone",
        "Runs of the same id in two projects are taken for one, and the second is never committed.",
        "C8",
        (
            Change(
                _WORK,
                "return row.reservation.binding in self._taken",
                "return row.reservation.run_id in {taken[2] for taken in self._taken}",
            ),
        ),
    ),
    Fault(
        "admission-of-another-project-taken",
        "A proof of admission is believed that names the run, in another project or domain.",
        "commit; Sweep",
        (Change(_AUTHORITY, f"{_OF_ADMISSION}{_NAMES}", f"{_OF_ADMISSION}{_NAMES_A_RUN}"),),
    ),
    Fault(
        "abandonment-of-another-project-taken",
        "A durable abandonment frees a slot that names the run, in another project or domain.",
        "Sweep",
        (Change(_AUTHORITY, f"{_OF_ABANDONMENT}{_NAMES}", f"{_OF_ABANDONMENT}{_NAMES_A_RUN}"),),
    ),
    Fault(
        "release-proof-of-another-project-taken",
        "A slot comes back on a proof about the run id in another project or domain.",
        "normalRelease",
        (
            Change(
                "impl.operations.release",
                'if (proof["projectId"], proof["projectControlDomainId"], proof["runId"])'
                " != reservation.binding:",
                'if proof["runId"] != reservation.run_id:',
            ),
        ),
    ),
)

_COUNTS: Final[tuple[Fault, ...]] = (
    Fault(
        "orphan-suspects-not-counted",
        "A row under suspicion is not counted among the slots held, and its slot is granted once more.",
        "S10; True capacity",
        (Change(_WORK, _COUNT, _FEWER), Change("impl.validate", _COUNT, _FEWER)),
    ),
    Fault(
        "sweep-of-two-at-most",
        "One sweep judges two due rows and leaves the others for later.",
        "Sweep",
        (Change(_SWEEP, "if _is_due(row.reservation, at)]", "if _is_due(row.reservation, at)][:2]"),),
    ),
    Fault(
        "maximum-compared-before-the-sweep",
        "A new maximum is compared with the slots that were held before due rows were swept.",
        "setMaxActiveRuns",
        (Change(_COMMANDS, "    held = work.held()\n", _HELD_BEFORE),),
    ),
    Fault(
        "maximum-set-without-a-fence",
        "Setting the maximum doesn't look at the lease before it is known whether anything changes.",
        "One transaction, 5",
        (
            Change(
                _TRANSACTION,
                "        work.fence()\n        if base",
                '        if self.plan.operation != "setMaxActiveRuns":\n'
                "            work.fence()\n"
                "        if base",
            ),
        ),
    ),
)

_EPOCHS: Final[tuple[Fault, ...]] = (
    Fault(
        "forced-row-keeps-its-epoch",
        "A row that is forced free still bears the epoch of the host that wrote it last.",
        "forceRelease",
        (Change(_COMMANDS, 'state="released", coordinator_epoch=work.epoch,', 'state="released",'),),
    ),
    Fault(
        "late-values-keep-the-epoch",
        "A committed row that is given its attempt later bears the epoch of the host that committed it.",
        "commit",
        (
            Change(
                _LIFECYCLE,
                "return work.put(row, evolve(bound, coordinator_epoch=work.epoch), updated_at=work.now)",
                "return work.put(row, bound, updated_at=work.now)",
            ),
        ),
    ),
    Fault(
        "renewed-row-keeps-its-epoch",
        "A row that is renewed still bears the epoch of the host that wrote it before.",
        "renew",
        (Change(_LIFECYCLE, "renewed_at=work.now, coordinator_epoch=work.epoch", "renewed_at=work.now"),),
    ),
    Fault(
        "suspected-row-keeps-its-epoch",
        "A row that comes under suspicion still bears the epoch of the host that wrote it before.",
        "markOrphanSuspect",
        (
            Change(
                _LIFECYCLE, 'state="orphan-suspect", coordinator_epoch=work.epoch)', 'state="orphan-suspect")'
            ),
        ),
    ),
    Fault(
        "swept-row-keeps-its-epoch",
        "A row that the sweep commits still bears the epoch of the host that reserved it.",
        "Sweep",
        (Change(_SWEEP, "        coordinator_epoch=work.epoch,\n", ""),),
    ),
)

_CLOCKS: Final[tuple[Fault, ...]] = (
    Fault(
        "clock-not-looked-at-after-a-failure",
        "Where a project can't be asked, the sweep doesn't look at the clock before it goes on.",
        "Sweep; One transaction, 4",
        (Change(_SWEEP, "        work.look()\n        return _SKIP\n", "        return _SKIP\n"),),
    ),
)

_SHOWN: Final[tuple[Fault, ...]] = (
    Fault(
        "authorize-shown-nothing",
        "The authority is asked about a caller without being shown the reservation.",
        "One transaction, 6",
        (
            Change(
                _TRANSACTION,
                "        if row is not None:\n            return row.reservation\n",
                "        if row is not None:\n            return None\n",
            ),
        ),
    ),
    Fault(
        "authorize-again-shown-the-old-row",
        "When it is asked again, the authority is shown the reservation as it was before the operation.",
        "One transaction, 9",
        (
            Change(
                _TRANSACTION,
                "again = work.authorize(self.context, self.plan.operation, self._shown(work))",
                'old = work.base.state.reservations.get(self.plan.subject or "")\n'
                "            shown = self._shown(work) if old is None else old.reservation\n"
                "            again = work.authorize(self.context, self.plan.operation, shown)",
            ),
        ),
    ),
)

FAULTS: Final[tuple[Fault, ...]] = (*_BINDINGS, *_COUNTS, *_EPOCHS, *_CLOCKS, *_SHOWN)
