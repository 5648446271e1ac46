"""Faults in what stands on disk: how it is written, chained, hashed, and put in place."""

from typing import Final

from crash_tests.planted.plant import Change, Fault

_CANONICAL: Final = "impl.canonical"
_DISK: Final = "impl.disk"
_PUBLISH: Final = "impl.publish"
_TRANSACTION: Final = "impl.transaction"
_VALIDATE: Final = "impl.validate"

FAULTS: Final[tuple[Fault, ...]] = (
    Fault(
        "audit-entry-with-a-wrong-previous-hash",
        "An audit entry names the hash before the one before it, and that is published.",
        "S3",
        (
            Change(
                _TRANSACTION,
                "previous_hash=before.audit[-1].hash if before.audit",
                "previous_hash=before.audit[-1].previous_hash if before.audit",
            ),
            Change(_VALIDATE, "if entry.previous_hash != previous_hash:", "if False:"),
        ),
    ),
    Fault(
        "audit-chain-not-checked",
        "A chain whose links are wrong is believed as it is read.",
        "S3",
        (Change(_VALIDATE, "if entry.previous_hash != previous_hash:", "if False:"),),
    ),
    Fault(
        "state-digest-without-the-commands",
        "The business digest covers the rows alone, so that commands can be changed unseen.",
        "stateDigest",
        (Change(_CANONICAL, "    digest.update(commands_text)\n", ""),),
    ),
    Fault(
        "state-digest-not-bound",
        "Whether the last entry's stateDigest is that of the state is not asked as it is read.",
        "S4",
        (Change(_VALIDATE, "if latest.state_digest != business.digest:", "if False:"),),
    ),
    Fault(
        "state-hash-not-checked",
        "Whether the stateHash is that of the state is not asked as it is read.",
        "S2",
        (Change(_VALIDATE, "if state.state_hash != state_hash:", "if False:"),),
    ),
    Fault(
        "read-under-another-name",
        "The audit records a read that swept as `sweep` instead of the operation's name.",
        "Durable state",
        (
            Change(
                _TRANSACTION,
                "        action=action,\n",
                '        action="sweep" if action == "snapshot" else action,\n',
            ),
        ),
    ),
    Fault(
        "rename-before-the-write-is-complete",
        "The new state is put in place first and written afterwards.",
        "crash-matrix",
        (
            Change(
                _PUBLISH,
                "        disk.rename(subject, temp, target)\n        published = True\n",
                "        disk.rename(subject, temp, target)\n        published = True\n"
                "        disk.write(subject, descriptor, data)\n"
                "        disk.sync_file(subject, descriptor)\n",
            ),
            Change(
                _PUBLISH,
                "        try:\n"
                "            disk.write(subject, descriptor, data)\n"
                "            disk.sync_file(subject, descriptor)\n"
                "        finally:\n"
                "            disk.close(descriptor)\n"
                "        yield publish\n",
                "        try:\n"
                "            yield publish\n"
                "        finally:\n"
                "            disk.close(descriptor)\n",
            ),
        ),
    ),
    Fault(
        "temp-file-left-behind",
        "Each publication leaves an empty temporary file beside the state.",
        "C5, C6",
        (
            Change(
                _DISK,
                "    os.rename(source, target)\n",
                "    os.rename(source, target)\n"
                "    os.close(os.open(source, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))\n",
            ),
        ),
    ),
    Fault(
        "in-place-write",
        "The state is written over the old one, in the same file.",
        "crash-matrix",
        (
            Change(_PUBLISH, 'temp = f"{target}.{disk.random_hex()}.tmp"', "temp = target"),
            Change(_DISK, "os.O_RDWR | os.O_CREAT | os.O_EXCL |", "os.O_RDWR | os.O_CREAT | os.O_TRUNC |"),
            Change(_PUBLISH, "if not published and not lock.lost:", "if False:"),
        ),
    ),
    Fault(
        "renewal-never-published",
        "A renewal is answered, and never written.",
        "One transaction, 10",
        (
            Change(
                _TRANSACTION,
                "        if not changed and not completing:\n",
                '        if not completing and (not changed or self.plan.operation == "renew"):\n',
            ),
        ),
    ),
    Fault(
        "launched-before-published",
        "A dispatch launches the run before the sweep that belongs to it is published.",
        "dispatch",
        (
            Change(
                _TRANSACTION,
                "        state = self._publish(work, lease_until, recorded_at)\n",
                "        if work.activation is not None:\n"
                "            launched = self._activate(work, lease_until)\n"
                "            self._publish(work, lease_until, recorded_at)\n"
                "            self._make_durable()\n"
                "            return launched\n"
                "        state = self._publish(work, lease_until, recorded_at)\n",
            ),
        ),
    ),
)
