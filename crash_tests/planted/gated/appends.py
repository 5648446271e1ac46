"""Faults of one transaction: append, sync, mirror, commit, and what comes of a step that fails."""

from typing import Final

from crash_tests.planted.plant import Change, Fault

_GATE: Final = "impl.gated.gate"
_STORE: Final = "impl.gated.store"
_JOURNAL: Final = "impl.gated.journal"
_DISK: Final = "impl.disklog"
_PROMISE: Final = "the promise: durably appended first, mirrored second, then committed"
_SYNC: Final = "durability rules: an fsync that failed must never be retried and believed"

_APPEND: Final = "        self._access.journal.append(self._end.length, raw)\n"
_INSERT: Final = "            self._mirror.insert(self._line)\n"
_COMMIT: Final = "        with self._access.watching():\n            self._mirror.commit()\n"

FAULTS: Final = (
    Fault(
        "mirror-before-append",
        "The event is mirrored before it is appended.",
        _PROMISE,
        (
            Change(_STORE, _APPEND, f"        self._mirror.insert(line)\n{_APPEND}"),
            Change(_STORE, _INSERT, "            pass\n"),
        ),
    ),
    Fault(
        "commit-before-append",
        "The mutation is committed before its event is appended.",
        _PROMISE,
        (
            Change(
                _STORE,
                _APPEND,
                f"        self._mirror.insert(line)\n        self._mirror.commit()\n{_APPEND}",
            ),
            Change(_STORE, _INSERT, "            pass\n"),
            Change(_STORE, _COMMIT, "        pass\n"),
        ),
    ),
    Fault(
        "append-not-synced",
        "An append is reported as done though nothing of it was synced.",
        _PROMISE,
        (
            Change(
                _DISK,
                '    tell("ledger", "fsync-before")\n    os.fsync(descriptor)\n',
                '    tell("ledger", "fsync-before")\n',
            ),
        ),
    ),
    Fault(
        "append-synced-after-the-commit",
        "The event is synced only when its transaction was committed.",
        _PROMISE,
        (
            Change(_JOURNAL, "            disklog.sync_append(self.descriptor)\n", ""),
            Change(
                _STORE,
                _COMMIT,
                f"{_COMMIT}        import os\n        os.fsync(self._access.journal.descriptor)\n",
            ),
        ),
    ),
    Fault(
        "append-synced-twice",
        "Each event is synced twice.",
        "acceptance: a committed transaction costs one fsync of the ledger",
        (
            Change(
                _JOURNAL,
                "            disklog.sync_append(self.descriptor)\n",
                "            disklog.sync_append(self.descriptor)\n"
                "            disklog.sync_append(self.descriptor)\n",
            ),
        ),
    ),
    Fault(
        "failed-fsync-retried-and-believed",
        "An fsync of an append that failed is tried again, and believed if it works then.",
        _SYNC,
        (
            Change(
                _JOURNAL,
                "            disklog.sync_append(self.descriptor)\n",
                "            try:\n"
                "                disklog.sync_append(self.descriptor)\n"
                "            except OSError:\n"
                "                disklog.sync_append(self.descriptor)\n",
            ),
        ),
    ),
    Fault(
        "failed-append-stays",
        "What a failed append has left is not cut off.",
        "run_ledger_gated_transaction, 4: the record is cut off again",
        (Change(_JOURNAL, "                self.cut(start)\n", "                pass\n"),),
    ),
    Fault(
        "failed-cut-retried-and-believed",
        "An fsync of a cut that failed is tried again, and believed if it works then.",
        _SYNC,
        (
            Change(
                _JOURNAL,
                "            disklog.sync_cut(self.descriptor)\n",
                "            try:\n"
                "                disklog.sync_cut(self.descriptor)\n"
                "            except OSError:\n"
                "                disklog.sync_cut(self.descriptor)\n",
            ),
        ),
    ),
    Fault(
        "cut-not-synced",
        "A record is cut off again, and the cut is not synced.",
        "run_ledger_gated_transaction, 4: and the cut synced",
        (
            Change(
                _DISK,
                '    tell("ledger", "cut-fsync-before")\n    os.fsync(descriptor)\n',
                '    tell("ledger", "cut-fsync-before")\n',
            ),
        ),
    ),
    Fault(
        "failed-cut-told-as-rolled-back",
        "An append that could not be cut off again is told as rolled back.",
        "run_ledger_gated_transaction, 4: if that fails too: in_doubt",
        (
            Change(
                _GATE,
                '"the event may be in the ledger, and may not", error, APPEND_FAILED, "in_doubt"',
                '"the event may be in the ledger, and may not", error, APPEND_FAILED, "rollback"',
            ),
        ),
    ),
    Fault(
        "poisoned-store-goes-on",
        "A store that could not cut a failed append off again is used further.",
        "run_ledger_gated_transaction, 4: every later call fails until the store is opened anew",
        (Change(_JOURNAL, "        if self.poison is not None:\n", "        if False:\n"),),
    ),
    Fault(
        "short-write-taken-for-a-whole-one",
        "What the file system takes of a write is taken for all of it.",
        "durability rules: a write can be short",
        (Change(_DISK, "    while rest:\n        taken", "    if rest:\n        taken"),),
    ),
    Fault(
        "short-read-taken-for-a-whole-one",
        "What the file system gives of a read is taken for all of it.",
        "recovery: opening verifies the whole ledger",
        (Change(_DISK, "        size -= len(part)\n", "        size = 0\n"),),
    ),
    Fault(
        "mirror-failure-swallowed",
        "An event that could not be mirrored is told as committed.",
        "run_ledger_gated_transaction, 5: failure -> SQLITE_MIRROR_FAILED",
        (
            Change(
                _STORE,
                _INSERT,
                "            try:\n"
                "                self._mirror.insert(self._line)\n"
                "            except Exception:\n"
                "                pass\n",
            ),
        ),
    ),
    Fault(
        "mirror-failure-told-as-rolled-back",
        "An event that was appended and could not be mirrored is told as rolled back.",
        "run_ledger_gated_transaction, 5: in_doubt",
        (
            Change(
                _GATE,
                '        MIRROR_FAILED,\n        "in_doubt",\n',
                '        MIRROR_FAILED,\n        "rollback",\n',
            ),
        ),
    ),
    Fault(
        "commit-left-out",
        "The transaction is told as committed and never is.",
        _PROMISE,
        (
            Change(
                "impl.gated.mirror",
                '        tell("mirror", "commit-before")\n        self.open.execute("COMMIT")\n',
                '        tell("mirror", "commit-before")\n',
            ),
        ),
    ),
    Fault(
        "commit-failure-swallowed",
        "A COMMIT that failed is told as committed.",
        "run_ledger_gated_transaction, 6: failure -> SQLITE_COMMIT_AFTER_LEDGER_FAILED",
        (
            Change(
                _STORE,
                "            self._mirror.commit()\n",
                "            try:\n"
                "                self._mirror.commit()\n"
                "            except Exception:\n"
                "                self._mirror.disconnect()\n",
            ),
        ),
    ),
    Fault(
        "not-rolled-back",
        "What was begun is not rolled back when it fails.",
        "run_ledger_gated_transaction: rolled back exactly once, whatever fails",
        (Change(_GATE, "        _roll_back_after(handle, first)\n", ""),),
    ),
    Fault(
        "rolled-back-twice",
        "What was begun is rolled back twice when it fails.",
        "run_ledger_gated_transaction: rolled back exactly once, whatever fails",
        (
            Change(
                _GATE,
                "        _roll_back_after(handle, first)\n",
                "        _roll_back_after(handle, first)\n        _roll_back_after(handle, first)\n",
            ),
        ),
    ),
    Fault(
        "l5-rollback-error-hides-the-first",
        "A rollback that fails is raised in the place of the error that it came after.",
        "L5",
        (Change(_GATE, "        attach_rollback(first, failure)\n", "        raise\n"),),
    ),
    Fault(
        "l5-rollback-error-forgotten",
        "A rollback that fails is not attached to the error that it came after.",
        "L5: it is attached to it",
        (Change(_GATE, "        attach_rollback(first, failure)\n", "        del failure\n"),),
    ),
    Fault(
        "verifier-ignored",
        "In phase verify the verifier is not asked.",
        "run_ledger_gated_transaction, 3: if it says no: roll back, VERIFY_GATE_FAILED",
        (Change("impl.gated.transaction", "        _verify(request, after_text)\n", ""),),
    ),
    Fault(
        "removed-rows-not-on-the-line",
        "A line doesn't tell which rows its mutation removed.",
        "records: `change` holds what the mutation changed (enough to replay it)",
        (
            Change(
                "impl.gated.transaction",
                "        tuple(in_order(name for name in before if name not in after)),\n",
                "        (),\n",
            ),
        ),
    ),
)
