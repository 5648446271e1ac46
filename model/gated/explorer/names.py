"""The table of the ledger's facets: names alone, so that a check can be planned without the explorer.

`facets` has the functions that these names stand for.
"""

from collections.abc import Mapping
from typing import Any, Final

from attrs import evolve

from model.explorer.facet import PROFILES, Facet

_HERE: Final = "model.gated.explorer.facets"
_AFTER_QUICK: Final = ("ci", "deep")


def _facet(
    name: str, about: str, *, profiles: tuple[str, ...] = _AFTER_QUICK, jobs: int = 1, **bounds: Any
) -> Facet:
    """Explored and toured whole by these profiles."""
    place = name.replace("-", "_")
    return Facet(
        name=name,
        about=about,
        space=f"{_HERE}:{place}",
        properties=f"{_HERE}:{place}_properties",
        bounds=bounds,
        explored=profiles,
        toured=dict.fromkeys(profiles, jobs),
    )


def _killed(
    name: str, about: str, *, jobs: Mapping[str, int], depth: Mapping[str, int], **bounds: Any
) -> Facet:
    """Explored, and killed along, which is a tour as well; a `depth` keeps near the start."""
    return evolve(_facet(name, about, **bounds), toured={}, killed=jobs, depth=depth)


FACETS: Final[tuple[Facet, ...]] = (
    _facet(
        "fields", "one key, and requests that are another by one field", profiles=PROFILES, clients=1, keys=1
    ),
    _facet("kinds", "each way of failing, where one key is written", profiles=PROFILES, clients=2, keys=1),
    _facet("otherwise", "the same steps asked for in another way", profiles=PROFILES, clients=1, steps=2),
    _facet("verify", "through the verifier's gate and back", profiles=PROFILES, clients=1, keys=2),
    _killed(
        "killed-undoing",
        "one compensator, killed everywhere",
        jobs={"ci": 1, "deep": 1},
        depth={},
        clients=1,
        steps=1,
    ),
    _killed(
        "killed",
        "one key, one step, a lost mirror, killed everywhere",
        jobs={"ci": 4, "deep": 6},
        depth={"ci": 4},
        clients=1,
        keys=1,
        steps=1,
        wounds=1,
    ),
    _facet("runs", "the same keys in two runs", clients=1, steps=1, runs=2),
    _facet("two-appliers", "two clients apply the same steps", clients=2, steps=2),
    _facet("orders", "steps in every order, and in none", clients=1, steps=2),
    _facet("gate", "who is known, and what a caller's own function does", clients=1, keys=2),
    _facet("compensation", "three compensators, of which one is not idempotent", clients=1, steps=3),
    _facet("compensations", "compensations in every form", clients=1, steps=2),
    _facet("receipts", "three steps, of which one may run but once", clients=1, steps=3),
    _facet("tampering-both", "both files tampered with", clients=1, keys=1, steps=1, wounds=2),
    _facet("clients", "what one client leaves behind, another finds", clients=2, keys=2),
    _facet("transact", "one client, three keys, all that can fail", clients=1, keys=3),
    _facet("two-compensators", "one applies, either undoes", clients=2, steps=1),
    _facet("requests", "requests that are another by one field, and that can't be made", clients=1, keys=2),
    _facet("recovery", "what a kill, a failing step or a lost mirror calls for", clients=1, keys=2),
    _facet("tampering-once", "one file tampered with: never a silent loss", clients=1, keys=2, wounds=1),
    _facet("many-clients", "three clients, three keys", profiles=("deep",), jobs=3, clients=3, keys=3),
)
"""Those that are quick to tour come first: so a difference shows soon."""
