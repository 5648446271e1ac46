"""Alphabets in which files are lost, torn, edited, or another's: recovery, and what it must refuse.

Each file is tampered with once at most before the store is opened with success again.
"""

from typing import Final

from model.gated.explorer.requests import counting, steps
from model.gated.explorer.schemes import Request, Scheme, fails, opening, reading, tampering
from model.gated.explorer.variants import of_recovery

_WRECKS: Final = tuple(
    map(tampering, ("mirror-deleted", "mirror-emptied", "mirror-corrupt", "mirror-schema", "mirror-edited"))
)
_OLDER: Final = (tampering("mirror-behind", n=0), tampering("mirror-behind", n=1))
_FOREIGN: Final = (tampering("mirror-foreign", n=1), tampering("mirror-foreign", n=2))
_TAILS: Final = (
    *(tampering("tail-torn", n=1), tampering("tail-torn", n=200)),
    *(tampering("tail-cut", n=1), tampering("tail-cut", n=200)),
)
_LINES: Final = tuple(
    tampering(f"line-{kind}", line, 40 if kind == "edited" else 0)
    for kind in ("removed", "repeated", "edited", "appended")
    for line in (1, 2)
) + (tampering("line-swapped", 1), tampering("ledger-deleted"))
_ALL: Final = (*_WRECKS, *_OLDER, *_FOREIGN, *_TAILS, *_LINES)


def _keys(*names: str) -> tuple[Request, ...]:
    return tuple(Request(name, counting(name), (fails("mirror"), fails("append full", "cut"))) for name in names)


def recovery() -> Scheme:
    """Every recovery that a kill, a failing step or a lost mirror calls for, and those of a recovery's death."""
    first = opening(*of_recovery(), late_deaths=True)
    return Scheme(1, (first, *_keys("k1", "k2")), (*_WRECKS, *_OLDER), alike=(("k1", "k2"),))


def tampering_once() -> Scheme:
    """One file tampered with: never a silent loss."""
    return Scheme(1, (opening(fails("catch-up")), reading(), *_keys("k1", "k2")), _ALL)


def tampering_both() -> Scheme:
    """Both files tampered with: what was acknowledged can be gone, and the store still is one or refuses."""
    key = Request("k1", counting("k1"), deaths=False)
    done = Request("steps", steps(False), (fails("append:2"),), deaths=False)
    requests = (opening(deaths=False), reading(deaths=False), key, done)
    return Scheme(1, requests, _ALL, most_wounds=2)
