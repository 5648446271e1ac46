"""Alphabets in which files are lost, torn, edited, or another's: recovery, and what it must refuse.

Each file is tampered with once at most before the store is opened with success again.
"""

from typing import Final

from model.gated.explorer.requests import counting, steps
from model.gated.explorer.schemes import Request, Scheme, fails, opening, reading, tampering
from model.gated.explorer.variants import of_recovery

_VALUE: Final = 34
"""The byte of a line that says to what the row `n` was counted: edited, the line is well-formed still."""

_WRECKS: Final = tuple(
    map(tampering, ("mirror-deleted", "mirror-emptied", "mirror-corrupt", "mirror-schema", "mirror-edited"))
)
_OLDER: Final = (tampering("mirror-behind", n=0), tampering("mirror-behind", n=1))
_FOREIGN: Final = (tampering("mirror-foreign", n=1), tampering("mirror-foreign", n=2))
_TAILS: Final = (
    *(tampering("tail-torn", n=1), tampering("tail-torn", n=200)),
    *(tampering("tail-cut", n=1), tampering("tail-cut", n=200)),
)
_LINES: Final = (
    *(tampering(f"line-{kind}", line) for kind in ("removed", "repeated", "appended") for line in (1, 2)),
    *(tampering("line-edited", 1, _VALUE), tampering("line-edited", 2, _VALUE), tampering("line-swapped", 1)),
    tampering("ledger-deleted"),
)
_ALL: Final = (*_WRECKS, *_OLDER, *_FOREIGN, *_TAILS, *_LINES)


_ONCE: Final = (fails("mirror"), fails("append full"), fails("append-fsync"))
_WORST: Final = (
    *map(tampering, ("mirror-deleted", "mirror-corrupt", "ledger-deleted")),
    *(tampering("mirror-behind", n=0), tampering("mirror-behind", n=1), tampering("mirror-foreign", n=2)),
    tampering("tail-cut", n=200),
    *(tampering("line-edited", 2, _VALUE), tampering("line-removed", 2)),
)


def killed() -> Scheme:
    """A little of everything: one key, one step, what a death and a lost mirror leave."""
    requests = (
        opening(deaths="telling"),
        reading(deaths="none"),
        Request(
            "k1", counting("k1"), (fails("mirror"), fails("append full"), fails("append-fsync")), "telling"
        ),
        Request("steps", steps(False), deaths="telling"),
    )
    return Scheme(1, requests, (tampering("mirror-corrupt"),))


def recovery() -> Scheme:
    """Every recovery that a kill, a failing step or a lost mirror calls for, and recoveries that die."""
    first = opening(*of_recovery(), late_deaths="each")
    variants = (fails("mirror"), fails("append full", "cut"))
    keys = tuple(Request(name, counting(name), variants, "telling") for name in ("k1", "k2"))
    return Scheme(1, (first, *keys), (*_WRECKS, *_OLDER))


def tampering_once() -> Scheme:
    """One file tampered with: never a silent loss."""
    keys = tuple(Request(name, counting(name), (fails("mirror"),), "none") for name in ("k1", "k2"))
    reads = reading(deaths="none")
    return Scheme(1, (opening(fails("catch-up"), deaths="telling"), reads, *keys), _ALL)


def tampering_both() -> Scheme:
    """Both files tampered with: what was acknowledged can be gone, and the store still is one or refuses."""
    key = Request("k1", counting("k1"), deaths="none")
    done = Request("steps", steps(False), (fails("append:2"),), deaths="none")
    requests = (opening(deaths="none"), reading(deaths="none"), key, done)
    return Scheme(1, requests, _WORST, most_wounds=2)
