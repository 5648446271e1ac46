"""`detection.json` beside the run folders: what the checks are known to catch, measured apart from any run.

It holds the matrix of planted faults (`faults`) and the score of ordinary mutation testing (`mutation`),
each measured by a command of its own and kept when the other is measured again. Runs put it in their report.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from holdtrue.exits import UsageError
from holdtrue.provenance import code
from holdtrue.tracefile import once
from model.values import JSON

FILE: Final = "detection.json"
_KINDS: Final[Mapping[str, type | tuple[type, ...]]] = {
    "commit": (str, type(None)),
    "dirty": (bool, type(None)),
    "seed": int,
    "with_corpus": bool,
    "faults": list,
    "mutation": (dict, type(None)),
}


def known(out: Path) -> dict[str, Any] | None:
    """What `out` holds of it; `None` if there is no such file. UsageError if it makes no sense."""
    path = out / FILE
    try:
        found = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=once)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path} can't be read: {error}; remove it, and run 'holdtrue mutants' again"
        ) from error
    if not isinstance(found, dict) or any(
        not isinstance(found.get(key), kind) for key, kind in _KINDS.items()
    ):
        raise UsageError(f"{path} is not what 'holdtrue mutants' writes; remove it, and run that again")
    return found


def kept(out: Path, *, with_corpus: bool = True, seed: int = 0, **measured: JSON) -> tuple[Path, str]:
    """Puts what was measured (`faults` or `mutation`) in the file, whole or not at all.

    Returns its path, and why it could not be written, if so.
    """
    try:
        before = known(out) or {}
    except UsageError:  # it makes no sense: what is measured now takes its place
        before = {}
    about = code()
    now = {
        "commit": about["commit"],
        "dirty": about["dirty"],
        "seed": seed,
        "with_corpus": with_corpus,
        "faults": before.get("faults", []),
        "mutation": before.get("mutation"),
        **measured,
    }
    path = out / FILE
    draft = path.with_name(f".{FILE}.unfinished")
    try:
        out.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
        os.replace(draft, path)  # noqa: PTH105  # whole or not at all
    except OSError as error:
        return path, error.strerror or str(error)
    return path, ""
