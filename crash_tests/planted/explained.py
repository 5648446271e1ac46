"""Survivors of ordinary mutation testing that nobody could tell from the sound store, each with its argument.

A survivor is known by its file and by the lines that the mutant takes away and puts in their place, so that
an argument does not outlive the code that it is about. What can be computed of an argument, a test computes.

Doesn't: list all equivalent mutants, only those that were met, and others of the same line for which the same
argument holds.
"""

from collections.abc import Mapping
from typing import Final

from attrs import frozen

from crash_tests.planted.score import Mutant


@frozen
class Explained:
    """Why a line of a file may as well be any of others. Of the lines, `{}` stands for what differs."""

    file: str
    line: str
    sound: str
    others: tuple[str, ...]
    argument: str


GROUPS: Final = (
    Explained(
        "impl/authority.py",
        "return {}",
        "-1",
        ("1", "+1", "~1", "not 1", "- 2", "- 0"),
        "The size of an answer that can't be measured is compared with the number of a lease's fields, "
        "4, and with nothing else: any other number says the same.",
    ),
    Explained(
        "impl/converter.py",
        "if type(error) {} ValueError:",
        "is",
        ("==",),
        "Comparing classes is comparing identities unless a metaclass says otherwise. Errors come here "
        "from cattrs and the hooks of this module, of what was parsed from JSON: none has such a class.",
    ),
    Explained(
        "impl/disk.py",
        'descriptor = os.open("/proc/self/mountinfo", os.O_RDONLY {} os.O_CLOEXEC)',
        "|",
        ("<<", ">>", "+", "^", "*", "**", "//", "%", "&"),
        "O_RDONLY is 0, so this is O_CLOEXEC or 0, and Python sets O_CLOEXEC by itself whenever it opens "
        "a file (PEP 446).",
    ),
    Explained(
        "impl/disk.py",
        'return _read_all(descriptor, {}).decode("utf-8", "surrogateescape")',
        "1 << 16",
        (
            "1 & 16", "1 | 16", "1 ^ 16", "1 + 16", "1 * 16", "1 ** 16", "1 % 16", "1 // 16", "1 >> 16",
            "0 << 16", "2 << 16", "1 << 15", "1 << 17",
        ),
        "How much of the table of mounts is asked for first. Unless just so much comes, one byte less "
        "than was asked for, reading goes on until nothing comes; and no line of it is as short as the "
        "small ones of these sizes. Only the number of reads differs.",
    ),
    Explained(
        "impl/disk.py",
        "data = os.read(descriptor, {})",
        "1 << 20",
        (
            "1 * 20", "1 | 20", "1 ^ 20", "1 + 20", "1 ** 20", "1 % 20", "2 << 20", "1 << 19", "1 << 21",
        ),
        "How much is asked for at once, at least 1 byte, until nothing comes. Only the number of reads "
        "differs.",
    ),
    Explained(
        "impl/disk.py",
        "flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | {}",
        "os.O_NONBLOCK | os.O_CLOEXEC",
        ("os.O_NONBLOCK * os.O_CLOEXEC", "os.O_NONBLOCK + os.O_CLOEXEC", "os.O_NONBLOCK ^ os.O_CLOEXEC"),
        "O_EXCL makes a new regular file or fails, and for a regular file O_NONBLOCK means nothing. "
        "Python sets O_CLOEXEC by itself whenever it opens a file (PEP 446). The product of both is a "
        "bit that no flag of open has, which Linux ignores; sum and exclusive or are the same number.",
    ),
    Explained(
        "impl/disk.py",
        "if taken {} 0:",
        "==",
        ("<=",),
        "os.write answers how many bytes were taken, or raises: never less than 0.",
    ),
    Explained(
        "impl/disklog.py",
        "return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | {})",
        "os.O_NONBLOCK | os.O_CLOEXEC",
        ("os.O_NONBLOCK % os.O_CLOEXEC", "os.O_NONBLOCK + os.O_CLOEXEC", "os.O_NONBLOCK ^ os.O_CLOEXEC"),
        "The remainder is O_NONBLOCK alone, and Python sets O_CLOEXEC by itself whenever it opens a "
        "file (PEP 446); sum and exclusive or are the same number.",
    ),
    Explained(
        "impl/files.py",
        "_KIND: Final = {}",
        "0o170000",
        ("61441", "61439"),
        "Bit 0 more is of _OTHERS already. With 0o167777 the quick way is taken for no file that has "
        "any mode at all, so that the slow way judges it: it finds no fault of what the quick one would"
        " have let pass.",
    ),
    Explained(
        "impl/files.py",
        "kind_and_others = found.st_mode {}",
        "& (_KIND | _OTHERS)",
        (
            "<< (_KIND | _OTHERS)", ">> (_KIND | _OTHERS)", "+ (_KIND | _OTHERS)", "- (_KIND | _OTHERS)",
            "* (_KIND | _OTHERS)", "| (_KIND | _OTHERS)", "^ (_KIND | _OTHERS)", "// (_KIND | _OTHERS)",
            "& (_KIND & _OTHERS)", "& (_KIND + _OTHERS)", "& (_KIND ^ _OTHERS)", "& (_KIND // _OTHERS)",
            "& (_KIND % _OTHERS)", "& (_KIND * _OTHERS)", "& (_KIND >> _OTHERS)",
        ),
        "For every mode there is, the quick way then lets pass what it did, or nothing; and what it "
        "doesn't let pass the slow way judges, which finds no fault of it. Only speed differs.",
    ),
    Explained(
        "impl/gated/store.py",
        "self.sound = {}",
        "False",
        ("True",),
        "Nothing looks at it before opening has recovered the store, which sets it to True, or has "
        "failed, which closes the store. Before that there is no open ledger, without which nothing "
        "gets so far.",
    ),
    Explained(
        "impl/gated/values.py",
        'if (self.phase == "verify") {} (self.verify is not None):',
        "!=",
        ("is not",),
        "Both sides are True or False (the phase was found to be a `str` before), and there is one of "
        "each.",
    ),
    Explained(
        "impl/gated/verdict.py",
        "if not (self.sound and until {} found):"
        "  # else the mirror has just shown that no key is there twice",
        "==",
        ("is",),
        "Equal numbers above 256 needn't be one object. Then keys are looked through once more, of "
        "which the mirror has just shown that none is there twice. Only speed differs.",
    ),
    Explained(
        "impl/operations/__init__.py",
        'if operation {} "dispatch":',
        "==",
        ("<=",),
        "Of the eleven operations only commit comes before dispatch. It gets a `prepare` of None among "
        "its arguments, which its rule doesn't look at, and which nothing stores or shows.",
    ),
    Explained(
        "impl/operations/reads.py",
        'if row.reservation.state {} "committed":',
        "!=",
        (">",),
        "A state is one of five, in what is read as in what is made here, and committed is the first of"
        " them in the order of texts.",
    ),
    Explained(
        "impl/validate.py",
        "if trusted is None or state.fencing_epoch {} trusted.fencing_epoch:",
        "<",
        ("!=",),
        "Under a newer epoch than the trusted state's, entries that were in order are in order: none is"
        " above it, and nothing else of S3 depends on it. They are looked at once more. Only speed "
        "differs.",
    ),
)  # fmt: skip

EXPLAINED: Final[Mapping[tuple[str, str, str], str]] = {
    (group.file, group.line.replace("{}", group.sound), group.line.replace("{}", other)): group.argument
    for group in GROUPS
    for other in group.others
}
"""(file, line taken away, line put in its place), stripped, to the argument."""


def argument_for(mutant: Mutant) -> str:
    """Why `mutant` is equivalent; nothing if nobody has said so."""
    lines = mutant.diff.splitlines()
    gone = [line[1:].strip() for line in lines if line.startswith("-") and not line.startswith("---")]
    come = [line[1:].strip() for line in lines if line.startswith("+") and not line.startswith("+++")]
    return EXPLAINED.get((mutant.file, " ".join(gone), " ".join(come)), "")
