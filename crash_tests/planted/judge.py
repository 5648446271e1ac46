"""`python -m crash_tests.planted.judge [--sound] PRISTINE`: do tests and checks notice a changed `impl`?

Run in a copy of the project in which one mutant stands in `impl`; PRISTINE is a copy without it, by which the
changed file is found. Exit 1 at the first thing that notices (named on standard output), 0 if nothing does.
The parts of `make test` and of the quick checks come cheapest first: the pinned corpus, the tests beside the
changed file, then walks, kills, failing steps, races and machines, of the system that the file belongs to.

With --sound nothing may differ, and all parts are run: they have to pass, or they would notice anything.

A mutant that these leave alive has not been shown to survive `make test` and `holdtrue check` as a whole:
those have more tests and longer walks, and are for the few that are left.
"""

import filecmp
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

LIMIT_S: Final = 240.0
"""A part that takes longer than this, several times what it takes with the sound store, hangs: noticed."""

NO_END: Final = "no end within"

_HUNTS: Final = {"coordinator": "crash_tests.planted.hunt", "ledger": "crash_tests.planted.gated.hunt"}
_TESTS: Final = {"coordinator": ("impl/tests", "impl/operations"), "ledger": ("impl/gated/tests",)}


def changed_files(pristine: Path, here: Path) -> list[Path]:
    """The files of `impl`, relative, that differ between the two copies."""
    found = []
    for path in sorted((here / "impl").rglob("*.py")):
        relative = path.relative_to(here)
        if not filecmp.cmp(path, pristine / relative, shallow=False):
            found.append(relative)
    return found


def parts(changed: Path) -> Iterator[tuple[str, list[str]]]:
    """(name, command) of each part that may notice a change of this file, cheapest first.

    What the ledger's store alone uses can't be noticed by the coordinator's checks; the other way round, the
    disk layer and the codecs serve both.
    """
    python = [sys.executable, "-m"]
    systems = ("ledger",) if "gated" in changed.parts else ("coordinator", "ledger")
    for system in systems:
        yield f"{system}: corpus", [*python, _HUNTS[system], "none", "--only", "corpus"]
    for system in systems:
        folders = [folder for folder in _TESTS[system] if any(Path(folder).rglob("test_*.py"))]
        yield (
            f"{system}: tests",
            [*python, "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *folders],
        )
    for system in systems:
        yield f"{system}: checks", [*python, _HUNTS[system], "none", "--without-corpus"]


def notices(name: str, command: list[str]) -> str:
    """What this part has noticed; nothing if it hasn't."""
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"{name}: {NO_END} {LIMIT_S:g} s"
    if ended.returncode != 0:
        told = (ended.stdout + ended.stderr).strip().splitlines() or ["no word"]
        return f"{name}: exit {ended.returncode}: {told[-1][:300]}"
    caught = ended.stdout.strip().splitlines()[-1:] != ["null"]
    return f"{name}: {ended.stdout.strip()[:300]}" if command[2] in _HUNTS.values() and caught else ""


def main(arguments: list[str]) -> int:
    *options, pristine = arguments
    sound = options == ["--sound"]
    changed = changed_files(Path(pristine), Path.cwd())
    if len(changed) != (not sound):
        print(f"{len(changed)} files of impl differ from those in {pristine}", file=sys.stderr)
        return 2
    changed = changed or [Path("impl/__init__.py")]
    for name, command in parts(changed[0]):
        told = notices(name, command)
        if told:
            print(told)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
