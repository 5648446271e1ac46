"""The fixes of lock, files and directory undone: C7, and C12 … C15."""

from typing import Final

from crash_tests.planted.plant import Change, Fault

_ARGUMENTS: Final = "impl.arguments"
_JSON: Final = "impl.jsontext"
_DIRECTORY: Final = "impl.directory"
_DISK: Final = "impl.disk"
_LOCKFILE: Final = "impl.lockfile"
_FILES: Final = "impl.files"
_LOCK: Final = "impl.lock"
_TRANSACTION: Final = "impl.transaction"

_OPEN: Final = "os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)"

_LOCKS: Final[tuple[Fault, ...]] = (
    Fault(
        "c7-no-lock",
        "The lock is never taken.",
        "C7",
        (
            Change(
                _LOCKFILE,
                "        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)\n",
                "        pass\n",
            ),
        ),
    ),
    Fault(
        "c7-released-before-publishing",
        "The lock is dropped when the operation is done and its state is still to be published.",
        "C7",
        (
            Change(
                _TRANSACTION,
                "        with contextlib.ExitStack() as drafts:\n",
                "        from impl import lockfile\n\n        lockfile.close_lock(self.lock.descriptor)\n"
                "        with contextlib.ExitStack() as drafts:\n",
            ),
        ),
    ),
    Fault(
        "c7-released-by-a-forked-child",
        "A forked child drops the lock of its parent as it gives up its copy.",
        "C7",
        (
            Change(
                _LOCKFILE,
                "    for descriptor in _lock_descriptors:\n        os.close(descriptor)\n",
                "    for descriptor in _lock_descriptors:\n"
                "        fcntl.flock(descriptor, fcntl.LOCK_UN)\n"
                "        os.close(descriptor)\n",
            ),
        ),
    ),
    Fault(
        "c7-kept-by-a-forked-child",
        "A forked child keeps its copy of the lock open: the holder dies, and the lock lives on.",
        "C7",
        (
            Change(
                _LOCKFILE,
                "    for descriptor in _lock_descriptors:\n        os.close(descriptor)\n",
                "",
            ),
        ),
    ),
    Fault(
        "c7-lock-file-not-compared",
        "That the lock's path names another file by now is not noticed.",
        "C7",
        (
            Change(
                _LOCK,
                "if found is None or (found.st_dev, found.st_ino) != self._file:",
                "if False:",
            ),
        ),
    ),
    Fault(
        "c7-lock-file-not-compared-before-the-rename",
        "Who gets in by another lock file while the state is being written is overwritten.",
        "C7",
        (
            Change(
                _TRANSACTION,
                "            self.lock.check()\n            if publish_identity",
                "            if publish_identity",
            ),
        ),
    ),
    Fault(
        "c7-killed-holder-leaves-its-lock",
        "The lock is a file that its holder removes, and a killed holder doesn't.",
        "C7",
        (
            Change(
                _LOCKFILE,
                "    try:\n"
                "        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
                "    except BlockingIOError:\n",
                '    name = os.readlink(f"/proc/self/fd/{descriptor}") + ".held"\n'
                "    try:\n"
                "        os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))\n"
                "    except FileExistsError:\n",
            ),
            Change(
                _LOCKFILE,
                "            fcntl.flock(descriptor, fcntl.LOCK_UN)\n",
                "            with contextlib.suppress(OSError):\n"
                '                os.unlink(os.readlink(f"/proc/self/fd/{descriptor}") + ".held")\n',
            ),
        ),
    ),
)

_FILES_FAULTS: Final[tuple[Fault, ...]] = (
    Fault(
        "c12-links-followed",
        "A symlink in the place of a file is followed.",
        "C12",
        (
            Change(
                _FILES,
                '    if stat.S_ISLNK(mode):\n        yield f"{path} is a symlink; the',
                "    if stat.S_ISLNK(mode):\n        return\n"
                '    if False:\n        yield f"{path} is a symlink; the',
            ),
            Change(
                _DISK,
                _OPEN,
                "os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)",
            ),
        ),
    ),
    Fault(
        "c12-fifo-hangs",
        "A FIFO in the place of the state is waited for.",
        "C12",
        (
            Change(
                _FILES,
                "    if not stat.S_ISREG(mode):\n",
                "    if stat.S_ISFIFO(mode) and path.endswith(STATE_NAME):\n"
                "        pass\n"
                "    elif not stat.S_ISREG(mode):\n",
            ),
            Change(
                _DISK,
                _OPEN,
                "os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)",
            ),
        ),
    ),
    Fault(
        "c12-foreign-files-used",
        "Files of another user are used.",
        "C12",
        (
            Change(
                _FILES,
                "    if found.st_uid != disk.own_uid():\n"
                '        yield f"{path} belongs to user {found.st_uid}, not to the host\'s user"\n'
                "    if mode & _OTHERS",
                "    if mode & _OTHERS",
            ),
        ),
    ),
    Fault(
        "c12-shared-files-used",
        "Files that others may write are used.",
        "C12",
        (Change(_FILES, "if mode & _OTHERS:", "if False:"),),
    ),
    Fault(
        "c12-hard-links-used",
        "Files that have a second name are used.",
        "C12",
        (Change(_FILES, "if found.st_nlink != 1:", "if False:"),),
    ),
    Fault(
        "c12-replaced-while-looked-at",
        "A file that is replaced while it is looked at is taken for one with too many or too few names.",
        "C12",
        (Change(_DISK, "            if found.st_nlink:\n                break\n", "            break\n"),),
    ),
    Fault(
        "c13-opening-mends-a-shared-directory",
        "Opening takes the permissions of others from a directory that it has not made.",
        "C13",
        (
            Change(
                _DIRECTORY,
                "    standing = _check_component(path)\n    check_directory(path, standing)\n",
                "    import os\n\n"
                "    os.chmod(path, 0o700)\n"
                "    standing = _check_component(path)\n    check_directory(path, standing)\n",
            ),
        ),
    ),
    Fault(
        "c13-shared-directory-used",
        "A directory that others may enter is used as it is.",
        "C13",
        (Change(_FILES, "    if found.st_mode & _OTHERS:\n", "    if False:\n"),),
    ),
    Fault(
        "c14-bare-os-error",
        "A directory that is gone raises a bare OS error.",
        "C14",
        (
            Change(
                _DIRECTORY,
                'refuse(DURABILITY_FAILED, f"{self.path} is gone; it was there when the store was opened")',
                "raise FileNotFoundError(self.path)",
            ),
            Change(
                _TRANSACTION,
                '        except Exception as error:\n            raise io_failure(f"{plan.operation} in',
                '        except ValueError as error:\n            raise io_failure(f"{plan.operation} in',
            ),
        ),
    ),
    Fault(
        "c15-duplicate-keys-accepted",
        "Of a key that stands twice the last one counts.",
        "C15",
        (Change(_JSON, "    if len(found) != len(pairs):\n", "    if False:\n"),),
    ),
    Fault(
        "c15-floats-accepted",
        "`2.0` is taken for 2.",
        "C15",
        (
            Change(
                _JSON,
                "            parse_float=_no_float,\n",
                "            parse_float=lambda text: int(float(text)),\n",
            ),
        ),
    ),
    Fault(
        "c15-true-taken-for-1",
        "`true` is taken for 1.",
        "C15",
        (
            Change(
                _ARGUMENTS,
                "return type(value) is int and 1 <= value <= MAX_INTEGER",
                "return isinstance(value, int) and 1 <= value <= MAX_INTEGER",
            ),
        ),
    ),
)

FAULTS: Final[tuple[Fault, ...]] = (*_LOCKS, *_FILES_FAULTS)
