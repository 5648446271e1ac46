"""`mutation.jsonl`: what became of each mutant, written down as soon as it was judged.

A line is a JSON object: the mutant, and `impl`, the digest of the source that it is a mutant of. So a run
that was cut off can go on, and after new tests only those have to be judged again that nothing had noticed.
What was noticed once in the same source is not judged again: whoever takes tests away starts anew. Nor is
a survivor that has been explained since; it stays a survivor.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from os import SEEK_END
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
    line = json.dumps({"impl": impl, **asdict(mutant)}).encode() + b"\n"
    with path.open("a+b") as file:
        if file.tell() and (file.seek(-1, SEEK_END), file.read())[1] != b"\n":
            line = b"\n" + line  # who wrote last was killed in the middle of it
        file.write(line)


def settled_before(path: Path, impl: str) -> Mapping[Key, Mutant]:
    """The mutants of this source that needn't be judged again: noticed when last judged, and not only for
    taking too long; or not noticed, with an argument by now why they are equivalent.

    A line that makes no sense, such as the half of one, is passed over. Raises OSError, but not for a
    missing file.
    """
    if not path.exists():
        return {}
    found: dict[Key, Mutant] = {}
    for line in path.read_bytes().split(b"\n"):
        mutant = _mutant(line, impl)
        if mutant is None:
            continue
        if argument_for(mutant) if not mutant.noticed else mutant.made and not mutant.hung:
            found[mutant.key] = mutant
        else:
            found.pop(mutant.key, None)
    return found


def _mutant(line: bytes, impl: str) -> Mutant | None:
    """What `write_down` wrote of this source; `None` for a line of another or without sense."""
    try:
        told = json.loads(line, object_pairs_hook=_once_each)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or told.pop("impl", None) != impl or set(told) != set(_KINDS):
        return None
    if any(type(told[name]) is not kind for name, kind in _KINDS.items()):
        return None
    mutant = Mutant(**told)
    return mutant if mutant.noticed == mutant.noticed.strip() else None


_KINDS: Final[Mapping[str, type]] = {
    **dict.fromkeys(("file", "operator", "diff", "noticed"), str),
    **dict.fromkeys(("line", "column", "occurrence"), int),
    "made": bool,
}


def _once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """The object, in which each key stands once: whoever reads it otherwise may read another."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)
