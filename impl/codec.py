"""From bytes to values and back to JSON, in closed shapes and without any coercion.

Guarantees: what is decoded was exactly one JSON text and one final newline in UTF-8; no key was unknown,
missing or there twice; no number was a float, a boolean, `-0` or out of range; no text was empty where the
specification wants one or held a lone surrogate. Deep nesting and numbers of a million digits are refused
like anything else. A refusal says where in the file.

Doesn't: know the rules between fields. Those are S2-S10, in `validate`.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

from impl.jsontext import FormatError, parse_json
from impl.values import State, StoreIdentity

if TYPE_CHECKING:
    from cattrs import Converter


def decode_state(data: bytes) -> State:
    """coordinator.json as a value of closed shape (S1). Raises FormatError."""
    state: State = _decode(data, State)
    return state


def decode_identity(data: bytes) -> StoreIdentity:
    """coordinator.identity.json as a value of closed shape. Raises FormatError."""
    identity: StoreIdentity = _decode(data, StoreIdentity)
    return identity


def to_json(value: object) -> Any:
    """The specification's JSON of a value, as fresh dicts: absent optionals are left out."""
    if value is None or type(value) in (int, str, bool):
        return value
    return _converter().unstructure(value)


def _decode(data: bytes, kind: type) -> Any:
    return _structure(parse_json(data), kind)


def _structure(raw: object, kind: type) -> Any:
    try:
        return _converter().structure(raw, kind)
    except Exception:  # noqa: BLE001 -- cattrs raises whatever the first wrong value provokes
        raise FormatError(_locate(raw, kind)) from None


@cache
def _converter() -> "Converter":
    """The converter, loaded at first use: a mere import of the store needn't pay for it."""
    from impl.converter import converter_of

    return converter_of(False)


def _locate(raw: object, kind: type) -> str:
    from impl.converter import locate

    return locate(raw, kind)
