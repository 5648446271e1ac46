"""`holdtrue verify`: whether a run's folder is still what the run wrote, by its manifest.

Each file is hashed again. What is missing, changed, or there without being listed is told; nothing is
written. It says that the folder is whole and unchanged since the manifest was made, not who made it: whoever
can change a file can change the manifest. What no run writes is refused even then: a `results.json` that is
no JSON, or in which a key stands twice, so that readers would take different verdicts from it.
"""

import errno
import hashlib
import stat
from pathlib import Path

from attrs import frozen

from holdtrue.exits import Exit, UsageError
from holdtrue.out import Printer
from holdtrue.runfolder import files_below
from holdtrue.runs import RESULTS, folder_of, inside
from holdtrue.tracefile import read_json
from reports.manifest import NAME, ManifestError, parse
from reports.plain import paragraph, safe

SHOWN = 20
_CHUNK = 1 << 20
KINDS = ("missing", "changed", "surplus")


@frozen
class Difference:
    """A file that is not as the manifest says: missing, changed, or surplus; `why` may say more."""

    kind: str
    name: str
    why: str = ""


def verify_command(options: object) -> int:
    """`holdtrue verify` as the command line asks for it."""
    return verify(vars(options)["run"], Printer())


def verify(named: str, printer: Printer) -> int:
    """Verifies the folder of the run `named` and prints what differs; the exit code is 1 if anything does."""
    folder = folder_of(named)
    try:
        if not (folder / NAME).is_file():
            raise FileNotFoundError(errno.ENOENT, "there is no such file")
        wanted = parse((folder / NAME).read_text("utf-8", "surrogateescape"))
    except OSError as error:
        raise UsageError(
            f"{str(folder)!r} can't be verified: {NAME}: {error.strerror}. Name a run's folder; those "
            "before schema version 2 have no manifest"
        ) from error
    except ManifestError as error:
        raise UsageError(f"{str(folder / NAME)!r} is damaged: {error}; fetch the run again") from error
    found = differences(folder, wanted)
    for difference in found[:SHOWN]:
        why = f" ({difference.why})" if difference.why else ""
        printer.lines(paragraph(f"{difference.kind:<8}{safe(difference.name, 300)}{safe(why)}"))
    if len(found) > SHOWN:
        printer.line(f"... and {len(found) - SHOWN} more")
    shown = safe(str(folder), 4096)
    if not found:
        if RESULTS in wanted:
            read_json(folder / RESULTS, what=RESULTS)
        printer.strong(f"OK  {shown}: {len(wanted)} files are as the run wrote them", "OK", "32")
        return Exit.PASSED
    many = ", ".join(f"{count} {kind}" for kind in KINDS if (count := sum(one.kind == kind for one in found)))
    printer.strong(f"CHANGED  {shown}: {many}, of {len(wanted)} files listed", "CHANGED", "31")
    return Exit.VIOLATED


def differences(folder: Path, wanted: dict[str, str]) -> list[Difference]:
    """What of `folder` is not as `wanted` (SHA-256 by name) says, by name."""
    there = set(files_below(folder)) - {NAME}
    found = [Difference("surplus", name) for name in there - set(wanted)]
    for name, digest in wanted.items():
        if not inside(folder, name):
            found.append(Difference("missing", name, "the manifest names a file outside of the folder"))
        elif name not in there:
            found.append(Difference("missing", name))
        else:
            why = _changed(folder / name, digest)
            found += [Difference("changed", name, why)] if why else []
    return sorted(found, key=lambda one: (KINDS.index(one.kind), one.name))


def _changed(path: Path, digest: str) -> str:
    """Why the file is not the one with that digest; empty if it is. Links are not followed."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return "no regular file any more"
        told = hashlib.sha256()
        with path.open("rb") as file:
            while piece := file.read(_CHUNK):
                told.update(piece)
    except OSError as error:
        return f"can't be read: {error.strerror}"
    return "" if told.hexdigest() == digest else "other content"
