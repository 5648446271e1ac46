"""The ledger's facets: spaces and properties by name, as `names.FACETS` says.

Between them every call meets each of its failing steps, every client dies at each small step of it, and what
a sentence of the specification forbids has a place where it could happen.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Final

from model.explorer.properties import Property
from model.gated.explorer import damage, effects, transactions
from model.gated.explorer.looks import Look
from model.gated.explorer.properties import properties
from model.gated.explorer.schemes import Scheme
from model.gated.explorer.space import LedgerSpace

Scheming = Callable[[], Scheme]

_OPENS: Final = frozenset({"acknowledged-stays", "recovery-converges"})
_GROWS: Final = frozenset({"chain-is-whole", "ledger-only-grows"})
_COMMITS: Final = (
    frozenset({"commit-appends-one", "event-before-commit", "retry-gets-its-answer"}) | _OPENS | _GROWS
)
_DOUBTS: Final = frozenset(
    {"doubt-can-be-settled", "failure-commits-nothing", "key-has-one-effect", "nothing-gets-stuck"}
)
_DIES: Final = frozenset({"crash-is-before-or-after"})
_POISONED: Final = frozenset({"poison-lasts", "refusal-appends-none"})
_TOLD: Final = frozenset({"refusal-says-what-to-do"})
_RECEIPTS: Final = (
    _OPENS | _GROWS | {"done-means-receipts", "receipt-stands-for-the-effect", "steps-run-in-order"}
)
_STEPS: Final = frozenset(
    {
        "doubt-is-said",
        "doubt-stops-all",
        "effect-at-most-once",
        "receipts-follow-effects",
        "started-before-effect",
    }
)
_BACK: Final = frozenset({"compensation-has-started"})
_DAMAGE: Final = frozenset({"damage-is-left-alone", "nothing-lost-in-silence"})

TESTED: Final[Mapping[Scheming, frozenset[str]]] = {
    transactions.kinds: _DOUBTS | _POISONED | _TOLD | {"event-before-commit", "retry-gets-its-answer"},
    transactions.transact: _COMMITS | _DOUBTS | _DIES | _POISONED | _TOLD,
    transactions.gate: _COMMITS | _DOUBTS | _DIES | {"mirror-is-a-fold", "other-request-conflicts"},
    transactions.verify: _COMMITS | _DOUBTS | {"mirror-is-a-fold", "verifier-keeps-the-gate"},
    transactions.fields: _OPENS | {"commit-appends-one", "key-has-one-effect", "other-request-conflicts"},
    transactions.requests: _COMMITS | _DIES | {"other-request-conflicts"},
    transactions.clients: _COMMITS | _DOUBTS | _DIES | _POISONED | _TOLD,
    effects.receipts: _RECEIPTS | _STEPS | _POISONED,
    effects.two_appliers: _RECEIPTS | _STEPS | _POISONED,
    effects.orders: _RECEIPTS | _STEPS | {"bad-request-does-nothing"},
    effects.otherwise: (_RECEIPTS | _STEPS) - {"doubt-stops-all"},
    effects.runs: (_RECEIPTS | _BACK) - {"steps-run-in-order"},
    effects.compensation: _RECEIPTS | _BACK | _POISONED,
    effects.two_compensators: (_RECEIPTS | _BACK | _POISONED) - {"steps-run-in-order"},
    effects.compensations: _RECEIPTS | _BACK | {"applied-for-good", "bad-request-does-nothing"},
    effects.killed_undoing: _OPENS | _GROWS | _BACK | {"done-means-receipts"},
    damage.killed: _COMMITS | _DOUBTS | _DIES | (_STEPS - {"doubt-stops-all", "doubt-is-said"}),
    damage.recovery: _COMMITS | _DOUBTS | _DIES | {"nothing-lost-in-silence"},
    damage.tampering_once: _COMMITS | _DOUBTS | _DAMAGE,
    damage.tampering_both: _OPENS | _GROWS | _DAMAGE,
}
"""By scheme, the invariants that its facet must put to the test. Between them: all."""

LARGE: Final[Mapping[Scheming, frozenset[str]]] = {
    transactions.many_clients: TESTED[transactions.clients],
}
"""The same, for facets that only the deep profile explores and tours."""
_ALL: Final[Mapping[Scheming, frozenset[str]]] = {**TESTED, **LARGE}


@cache
def space_of(scheme: Scheming) -> LedgerSpace:
    """The space, made once in a process: making it means going everywhere."""
    return LedgerSpace(scheme())


def _asked(scheme: Scheming) -> tuple[Property[Look, str], ...]:
    return properties(space_of(scheme), _ALL[scheme])


SPACES: Final[Mapping[str, Callable[[], LedgerSpace]]] = {
    scheme.__name__: partial(space_of, scheme) for scheme in _ALL
}
PROPERTIES: Final[Mapping[str, Callable[[], tuple[Property[Look, str], ...]]]] = {
    f"{scheme.__name__}_properties": partial(_asked, scheme) for scheme in _ALL
}


def __getattr__(name: str) -> Callable[[], object]:
    """What `names.FACETS` names: `transact` and `transact_properties`, and so on."""
    found: Callable[[], object] | None = SPACES.get(name) or PROPERTIES.get(name)
    if found is None:
        raise AttributeError(f"the ledger has no facet {name!r}; known are {', '.join(SPACES)}")
    return found
