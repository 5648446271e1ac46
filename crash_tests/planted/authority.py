"""Faults in who may do what, and when: epochs, leases, clocks, identities, and an operator's commands."""

from typing import Final

from crash_tests.planted.plant import Change, Fault

_COMMANDS: Final = "impl.operations.commands"
_GUARDS: Final = "impl.operations.guards"
_TRANSACTION: Final = "impl.transaction"
_WORK: Final = "impl.work"

_NOT_CLOSED_AT_STEP_9: Final = Change(
    _TRANSACTION,
    "        self.session.check()\n        self.lock.check()\n        return work.fence()\n",
    "        self.directory.check()\n        self.lock.check()\n        return work.fence()\n",
)
_NOT_CLOSED_AT_THE_LAST_MOMENT: Final = Change(
    _TRANSACTION,
    "            if self.session.closed:\n",
    "            if False:\n",
)

_FENCING: Final[tuple[Fault, ...]] = (
    Fault(
        "stale-epoch-may-write",
        "A host of an older epoch than the stored one goes on writing.",
        "once a newer epoch is stored, an older host never changes anything again",
        (
            Change(_TRANSACTION, "if base.state.fencing_epoch > host.epoch:", "if False:"),
            Change(
                _WORK,
                "        self.epoch = host.epoch\n",
                "        self.epoch = max(host.epoch, base.state.fencing_epoch)\n",
            ),
        ),
    ),
    Fault(
        "epoch-not-stored",
        "A newer host doesn't store its epoch until it has something else to write.",
        "One transaction, 5",
        (Change(_WORK, "            self.epoch != state.fencing_epoch\n            or ", "            "),),
    ),
    Fault(
        "clock-going-backwards-accepted",
        "A wall clock below lastWallTime is believed.",
        "One transaction, 4",
        (Change(_WORK, "if not is_count(found) or found < floor:", "if not is_count(found):"),),
    ),
    Fault(
        "clock-seen-forgotten",
        "An open store forgets what it has seen of the clock where it published nothing.",
        "One transaction, 4",
        (
            Change(
                _WORK,
                "floor = max(self.base.state.last_wall_time, self.memory.clock)",
                "floor = self.base.state.last_wall_time",
            ),
        ),
    ),
    Fault(
        "lease-end-not-checked",
        "A lease that has ended is as good as a live one.",
        "One transaction, 5",
        (Change(_WORK, "if lease.expires_at <= at:", "if False:"),),
    ),
    Fault(
        "lease-judged-by-an-early-look",
        "The clock is looked at before the lease is read, not after.",
        "One transaction, 5",
        (
            Change(
                _WORK,
                '        answer = ask("read_lease", lambda: self.host.authority.read_lease)\n'
                "        at = self.look()\n",
                "        at = self.look()\n"
                '        answer = ask("read_lease", lambda: self.host.authority.read_lease)\n',
            ),
        ),
    ),
    Fault(
        "lease-not-rechecked-before-publishing",
        "The lease is read once, at the start; what becomes of it meanwhile is not asked.",
        "One transaction, 9",
        (
            Change(
                _TRANSACTION,
                "        work.fence()\n        if base.state.fencing_epoch",
                "        self.until = work.fence()\n        if base.state.fencing_epoch",
            ),
            Change(_TRANSACTION, "        return work.fence()\n", "        return self.until\n"),
        ),
    ),
    Fault(
        "lease-end-not-looked-at-before-the-rename",
        "A lease that ends while the state is being written doesn't stop the rename.",
        "One transaction, 10",
        (
            Change(
                _TRANSACTION,
                "            if work.look() >= lease_until:\n                refuse(",
                "            if False:\n                refuse(",
            ),
        ),
    ),
    Fault(
        "launch-after-the-lease-ended",
        "A dispatch launches although the lease has ended since it was published.",
        "One transaction, 11",
        (
            Change(
                _TRANSACTION,
                "\n        if work.look() >= lease_until:\n",
                "\n        if False:\n",
            ),
        ),
    ),
    Fault(
        "re-authorization-skipped",
        "The caller is authorized once, at the start.",
        "One transaction, 9",
        (
            Change(
                _TRANSACTION,
                "again = work.authorize(self.context, self.plan.operation, self._shown(work))",
                "again = work.caller",
            ),
        ),
    ),
    Fault(
        "closed-store-answers",
        "A store that is closed while a callback is awaited still answers what needs no publication.",
        "One transaction, 9",
        (_NOT_CLOSED_AT_STEP_9,),
    ),
    Fault(
        "closed-store-publishes",
        "A store that is closed while a callback is awaited still publishes.",
        "One transaction, 9",
        (_NOT_CLOSED_AT_STEP_9, _NOT_CLOSED_AT_THE_LAST_MOMENT),
    ),
    Fault(
        "closed-at-the-last-moment-publishes",
        "A store that is closed while the lease is read for the last time still publishes.",
        "One transaction, 9 and 10",
        (_NOT_CLOSED_AT_THE_LAST_MOMENT,),
    ),
    Fault(
        "refused-operation-writes-its-sweep",
        "An operation that is refused after its sweep publishes the sweep.",
        "A refused operation leaves the same bytes",
        (
            Change(
                _TRANSACTION,
                "        answer = self.plan.rule(work, self.plan.arguments)\n",
                "        try:\n"
                "            answer = self.plan.rule(work, self.plan.arguments)\n"
                "        except CoordinatorError:\n"
                "            self._publish(work, self._recheck(work), work.look())\n"
                "            raise\n",
            ),
        ),
    ),
)

_PEOPLE: Final[tuple[Fault, ...]] = (
    Fault(
        "force-release-without-operator",
        "Anybody may force a release.",
        "forceRelease",
        (
            Change(
                _COMMANDS,
                '    """Take a slot back without proof."""\n    operator(work)\n',
                '    """Take a slot back without proof."""\n',
            ),
        ),
    ),
    Fault(
        "set-maximum-without-operator",
        "Anybody may set the maximum.",
        "setMaxActiveRuns",
        (
            Change(
                _COMMANDS,
                '    """Set the number of slots."""\n    operator(work)\n',
                '    """Set the number of slots."""\n',
            ),
        ),
    ),
    Fault(
        "maximum-below-what-is-held",
        "The maximum can be set below the slots held, and the state that says so is published.",
        "setMaxActiveRuns; S10",
        (
            Change(_COMMANDS, "if maximum < held:", "if False:"),
            Change("impl.validate", "if held > state.max_active_runs:", "if False:"),
        ),
    ),
    Fault(
        "command-executed-twice",
        "A command id that is known is carried out again.",
        "A command id has one effect and one answer",
        (Change(_COMMANDS, "if known is not None:", "if False:"),),
    ),
    Fault(
        "command-replayed-to-another-principal",
        "Whoever knows a command id gets its answer.",
        "Command rules",
        (Change(_COMMANDS, "if known.record.caller_principal != principal:", "if False:"),),
    ),
    Fault(
        "command-replayed-for-another-request",
        "A known command id answers another request than it was given with.",
        "Command rules",
        (Change(_COMMANDS, "if known.record.request_hash != asked:", "if False:"),),
    ),
    Fault(
        "owner-alone-is-asked",
        "A caller of the same owner under another principal is taken for the row's owner.",
        "other owner",
        (
            Change(
                _GUARDS,
                "if row.owner_id != who.owner_id or row.principal != who.principal:",
                "if row.owner_id != who.owner_id:",
            ),
        ),
    ),
)

FAULTS: Final[tuple[Fault, ...]] = (*_FENCING, *_PEOPLE)
