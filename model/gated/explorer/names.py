"""The table of the ledger's facets: names alone, so that a check can be planned without the explorer.

`facets` has the functions that these names stand for.
"""

from collections.abc import Mapping
from typing import Any, Final

from model.explorer.facet import PROFILES, Facet

_HERE: Final = "model.gated.explorer.facets"
_AFTER_QUICK: Final = ("ci", "deep")


def _facet(
    name: str,
    about: str,
    *,
    quick: bool = False,
    jobs: int = 1,
    kills: Mapping[str, int] | None = None,
    **bounds: Any,
) -> Facet:
    """With `quick`, the quick profile explores it and tours it whole; the others do all of them."""
    place = name.replace("-", "_")
    return Facet(
        name=name,
        about=about,
        space=f"{_HERE}:{place}",
        properties=f"{_HERE}:{place}_properties",
        bounds=bounds,
        explored=PROFILES if quick else _AFTER_QUICK,
        toured=dict.fromkeys(PROFILES if quick else _AFTER_QUICK, jobs),
        killed=kills or {},
    )


FACETS: Final[tuple[Facet, ...]] = (
    _facet("kinds", "each way of failing, where one key is written", quick=True, clients=2, keys=1),
    _facet("otherwise", "the same steps asked for in another way", quick=True, clients=1, steps=2),
    _facet("verify", "through the verifier's gate and back", quick=True, clients=1, keys=2),
    _facet("two-appliers", "two clients apply the same steps", clients=2, steps=2),
    _facet("orders", "steps in every order, and in none", clients=1, steps=2),
    _facet("recovery", "what a kill, a failing step or a lost mirror calls for", clients=1, keys=2),
    _facet("gate", "who is known, and what a caller's own function does", clients=1, keys=2),
    _facet("compensation", "three compensators, of which one is not idempotent", clients=1, steps=3),
    _facet("receipts", "three steps, of which one may run but once", clients=1, steps=3),
    _facet("compensations", "compensations in every form", clients=1, steps=2),
    _facet("tampering-both", "both files tampered with", clients=1, keys=1, steps=1, wounds=2),
    _facet("clients", "what one client leaves behind, another finds", clients=2, keys=2),
    _facet("transact", "one client, three keys, all that can fail", clients=1, keys=3),
    _facet("two-compensators", "one applies, either undoes", clients=2, steps=1),
    _facet("requests", "requests that are another by one field, and that can't be made", clients=1, keys=2),
    _facet("tampering-once", "one file tampered with: never a silent loss", clients=1, keys=2, wounds=1),
)
