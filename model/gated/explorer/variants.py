"""Which steps fail together in one call: alone, and with what comes after it."""

from typing import Final

from model.gated.actions import FAULTS
from model.gated.explorer.schemes import Faults, fails

LOST: Final = (fails("catch-up"), fails("cut"), fails("cut-fsync"))
"""Where something has to be recovered first."""

ONE_LINE: Final = (
    *(fails("begin"), fails("append"), fails("append full"), fails("append-fsync")),
    *(fails("append", "cut"), fails("append full", "cut"), fails("append-fsync", "cut")),
    *(fails("append-fsync", "cut-fsync"), fails("append-fsync", "rollback")),
    *(fails("append-fsync", "cut", "rollback"), fails("mirror"), fails("commit")),
    *(fails("mirror", "rollback"), fails("commit", "rollback"), fails("rollback")),
)
"""While one line is written."""

TRYING: Final = (*ONE_LINE, *LOST)


def in_lines(many: int) -> tuple[Faults, ...]:
    """While a call writes up to so many lines, one after another: what fails in each of them."""
    found = [*LOST]
    for n in range(1, many + 1):
        for moment, kind in (
            *(("begin", "fails"), ("append", "fails"), ("append", "full"), ("append-fsync", "fails")),
            *(("mirror", "fails"), ("commit", "fails"), ("rollback", "fails")),
        ):
            found.append(fails(f"{moment}:{n} {kind}"))
        for first, then in (
            *(("append-fsync", "cut"), ("append-fsync", "cut-fsync"), ("append-fsync", "rollback")),
            *(("mirror", "catch-up"), ("commit", "catch-up")),
        ):
            found.append(fails(f"{first}:{n}", then))
    return tuple(found)


def every_kind() -> tuple[Faults, ...]:
    """Each way in which each step can fail."""
    found = [fails(f"{moment} {kind}") for moment, kinds in FAULTS.items() for kind in kinds]
    found += [fails("append-fsync", f"{cut} {kind}") for cut in ("cut", "cut-fsync") for kind in FAULTS[cut]]
    return tuple(found)


def of_recovery() -> tuple[Faults, ...]:
    """Each way in which the steps of a recovery can fail."""
    return tuple(
        fails(f"{moment} {kind}") for moment in ("catch-up", "cut", "cut-fsync") for kind in FAULTS[moment]
    )
