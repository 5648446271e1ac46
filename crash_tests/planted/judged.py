"""`mutation.jsonl`: what became of each mutant, written down as soon as it was judged.

A line is a JSON object: the mutant, and `impl`, the digest of the source that it is a mutant of. So a run
that was cut off can go on, and after new tests only those have to be judged again that nothing had noticed.
What was noticed once in the same source is not judged again: whoever takes tests away starts anew. Nor is
a survivor that has been explained since; it stays a survivor.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from attrs import asdict

from crash_tests.planted.explained import argument_for
from crash_tests.planted.mutation import ROOT
from crash_tests.planted.score import Key, Mutant

FILE: Final = "mutation.jsonl"


def digest_of_impl(root: Path = ROOT) -> str:
    """Of all that mutants are made of: the files of `impl` but for its tests. 64 hexadecimal digits."""
    digest = sha256()
    for path in sorted((root / "impl").rglob("*.py")):
        if "tests" not in path.relative_to(root).parts:
            digest.update(f"{path.relative_to(root)}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def write_down(path: Path, impl: str, mutant: Mutant) -> None:
    """Adds a line for `mutant`. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"impl": impl, **asdict(mutant)}) + "\n")


def settled_before(path: Path, impl: str) -> Mapping[Key, Mutant]:
    """The mutants of this source that needn't be judged again: noticed when last judged, and not only for
    taking too long; or not noticed, with an argument by now why they are equivalent.

    A line that makes no sense, such as the half of one, is passed over. Raises OSError, but not for a
    missing file.
    """
    if not path.exists():
        return {}
    found: dict[Key, Mutant] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            told = json.loads(line)
            of = told.pop("impl")
            mutant = Mutant(**told)
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
        if of != impl:
            continue
        if argument_for(mutant) if not mutant.noticed else mutant.made and not mutant.hung:
            found[mutant.key] = mutant
        else:
            found.pop(mutant.key, None)
    return found
