"""Faults of the mirror: how its database is kept, and how an unusable one is replaced."""

from typing import Final

from crash_tests.planted.plant import Change, Fault

_MIRROR: Final = "impl.gated.mirror"
_CONNECTION: Final = "impl.gated.connection"
_RECOVERY: Final = "impl.gated.recovery"
_VERDICT: Final = "impl.gated.verdict"
_DISK: Final = "impl.disklog"
_WAL: Final = "durability rules: SQLite in WAL mode with synchronous=FULL"
_ASIDE: Final = "recovery: its files (-wal, -shm too) are set aside, a new one is built beside and renamed in"
_FOLD: Final = "recovery: after recovery, mirror state = the fold of the whole ledger. Always"
_NAMES: Final = "durability rules: a new file is durable only once its directory was fsynced too"
_SYNC_DIRECTORY: Final = '    disk.sync_directory("mirror", place.path)\n    return aside, replayed\n'

FAULTS: Final = (
    Fault(
        "mirror-in-delete-mode",
        "The mirror is left with a rollback journal and synchronous=FULL, as Python makes it.",
        _WAL,
        (
            Change(_CONNECTION, '"PRAGMA journal_mode=WAL"', '"PRAGMA journal_mode"'),
            Change(_CONNECTION, 'if mode != ("wal",) or full != (2,):', "if full != (2,):"),
        ),
    ),
    Fault(
        "mirror-synced-normally",
        "The mirror's commits are not synced: synchronous=NORMAL.",
        _WAL,
        (
            Change(_CONNECTION, '"PRAGMA synchronous=FULL"', '"PRAGMA synchronous=NORMAL"'),
            Change(_CONNECTION, "or full != (2,):", "or full != (1,):"),
        ),
    ),
    Fault(
        "aside-without-its-wal",
        "Of an unusable mirror the database alone is set aside; its WAL stays.",
        _ASIDE,
        (
            Change(
                _RECOVERY,
                "    for side in SIDES:\n        if disk.lstat",
                '    for side in ("",):\n        if disk.lstat',
            ),
        ),
    ),
    Fault(
        "unusable-mirror-removed",
        "An unusable mirror is removed instead of set aside.",
        _ASIDE,
        (
            Change(
                _DISK,
                '    tell("mirror", "aside-before")\n    os.rename(source, target)\n',
                '    tell("mirror", "aside-before")\n    os.unlink(source)\n',
            ),
        ),
    ),
    Fault(
        "mirror-built-in-its-place",
        "A new mirror is built under the name that it is to have in the end.",
        _ASIDE,
        (
            Change(
                _RECOVERY,
                '    path = f"{place.mirror_path}.{disk.random_hex()}.new"\n',
                "    path = place.mirror_path\n",
            ),
            Change(_RECOVERY, "    disklog.rename_mirror(path, place.mirror_path)\n", ""),
        ),
    ),
    Fault(
        "new-mirror-not-synced",
        "A new mirror is renamed in before its content is durable.",
        "durability rules: what is renamed in is durable first",
        (
            Change(
                _DISK,
                '    tell("mirror", "build-fsync-before")\n'
                "    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)\n"
                "    try:\n        os.fsync(descriptor)\n",
                '    tell("mirror", "build-fsync-before")\n'
                "    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)\n"
                "    try:\n        pass\n",
            ),
        ),
    ),
    Fault(
        "name-of-a-new-mirror-not-synced",
        "A new mirror is in its place, and the directory is not synced.",
        _NAMES,
        (Change(_RECOVERY, _SYNC_DIRECTORY, "    return aside, replayed\n"),),
    ),
    Fault(
        "name-of-a-new-ledger-not-synced",
        "A new ledger is made, and the directory is not synced.",
        _NAMES,
        (
            Change(
                _RECOVERY,
                '            disk.sync_directory("ledger", place.path)\n',
                "            pass\n",
            ),
        ),
    ),
    Fault(
        "half-built-mirrors-stay",
        "What killed recoveries have half-built is never removed.",
        "recovery: a crash during recovery changes nothing of that",
        (Change(_RECOVERY, "        _remove_leftovers(place)\n", ""),),
    ),
    Fault(
        "mirror-not-rebuilt-when-its-rows-differ",
        "A mirror whose rows are not what the ledger's events come to is taken for a sound one.",
        _FOLD,
        (
            Change(
                _VERDICT,
                "        if rows != sorted(",
                "        if not rows and rows != sorted(",
            ),
        ),
    ),
    Fault(
        "mirror-of-another-schema-accepted",
        "A mirror of another schema version is used.",
        "recovery: missing, corrupt or of another schema version: set aside",
        (
            Change(
                _VERDICT,
                "        if version != (SCHEMA_VERSION,) or schema != set(SCHEMA):\n",
                "        if schema != set(SCHEMA):\n",
            ),
        ),
    ),
    Fault(
        "mirror-of-another-chain-rebuilt",
        "A mirror of another ledger, or a ledger that is another one, is not refused: the mirror is rebuilt.",
        "recovery: a mirror on another chain -> LEDGER_INTEGRITY_FAILED",
        (
            Change(
                _VERDICT,
                "        if line.hash != self.head.hash:\n",
                "        if False:\n",
            ),
        ),
    ),
    Fault(
        "replayed-without-its-removals",
        "Replaying a line doesn't remove the rows that it removed.",
        _FOLD,
        (
            Change(
                _MIRROR,
                '        for name in change["remove"]:\n            merged[name] = None\n',
                "",
            ),
        ),
    ),
)
