"""What a target says of itself in its `hello`: who it is and what it can do.

All of it is the target's own word. Reading is strict: an unknown capability, or one of the wrong kind, is a
`ValueError` that names the place. What follows from a capability that is lacking is `reach`'s business.
"""

from collections.abc import Mapping
from typing import Any, Final, get_args

from attrs import frozen

from model.actions import Moment
from model.values import JSON

VERSION: Final = 1
EFFECTS: Final = ("raises", "answers", "reenters", "happens")
_MOMENTS: Final = get_args(Moment)
_MOST_POINTS: Final = 1_000


@frozen
class Capabilities:
    """The fields as `docs/protocol.md` tells them. By default a target can do none of it, but that
    several processes of it may work on one directory: whoever denies that has to say so."""

    moments: frozenset[str] = frozenset()
    effects: frozenset[str] = frozenset()
    hosts: str = "one"
    processes: str = "many"
    arbitration: str = "both"
    read_epoch: bool = False
    exact_numbers: bool = False
    surrogates: bool = False
    audit: bool = False
    files: str | None = None
    again: bool = False
    crash_points: tuple[str, ...] = ()

    def to_json(self) -> dict[str, JSON]:
        files: dict[str, JSON] = {} if self.files is None else {"files": self.files}
        return {
            "moments": [*sorted(self.moments)],
            "effects": [*sorted(self.effects)],
            "hosts": self.hosts,
            "processes": self.processes,
            "arbitration": self.arbitration,
            "readEpoch": self.read_epoch,
            "exactNumbers": self.exact_numbers,
            "surrogates": self.surrogates,
            "audit": self.audit,
            **files,
            "again": self.again,
            "crashPoints": list(self.crash_points),
        }


@frozen
class Greeting:
    """A target's answer to `hello`."""

    name: str
    version: str
    capabilities: Capabilities

    def to_json(self) -> dict[str, JSON]:
        return {
            "protocol": VERSION,
            "name": self.name,
            "version": self.version,
            "capabilities": self.capabilities.to_json(),
        }


def greeting_from_json(form: object) -> Greeting:
    """Raises `ValueError` that names the place."""
    hello = _closed(form, "hello", {"protocol", "name", "version", "capabilities"})
    protocol = hello.get("protocol")
    if type(protocol) is not int or protocol != VERSION:
        raise ValueError(f"hello.protocol: {protocol!r}, and this checker speaks {VERSION}")
    for key in ("name", "version"):
        if not isinstance(hello.get(key), str) or not hello[key] or len(hello[key]) > 200:
            raise ValueError(f"hello.{key}: a short text is needed, not {_shown(hello.get(key))}")
    return Greeting(hello["name"], hello["version"], _capabilities(hello.get("capabilities", {})))


def _capabilities(form: object) -> Capabilities:
    where = "hello.capabilities"
    given = _closed(form, where, {key for key, _, _ in _FIELDS})
    values: dict[str, Any] = {}
    for key, name, read in _FIELDS:
        if key in given:
            values[name] = read(given[key], f"{where}.{key}")
    return Capabilities(**values)


def _closed(form: object, where: str, known: set[str]) -> Mapping[str, Any]:
    if not isinstance(form, dict):
        raise ValueError(f"{where}: an object is needed, not {_shown(form)}")
    unknown = sorted(set(form) - known)
    if unknown:
        raise ValueError(f"{where}: unknown field {unknown[0]!r}; known are {', '.join(sorted(known))}")
    return form


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _some(known: tuple[str, ...]) -> Any:
    def read(value: object, where: str) -> frozenset[str]:
        return frozenset(_names(value, where, known))

    return read


def _names(value: object, where: str, known: tuple[str, ...] | None = None) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > _MOST_POINTS:
        raise ValueError(f"{where}: a list of at most {_MOST_POINTS} names is needed, not {_shown(value)}")
    for index, name in enumerate(value):
        if not isinstance(name, str) or not name or len(name) > 200 or (known and name not in known):
            told = f"; known are {', '.join(known)}" if known else ""
            raise ValueError(f"{where}[{index}]: {_shown(name)} is no name of this kind{told}")
    return tuple(value)


def _one(*known: str) -> Any:
    def read(value: object, where: str) -> str:
        if not isinstance(value, str) or value not in known:
            raise ValueError(f"{where}: {_shown(value)}; known are {', '.join(known)}")
        return value

    return read


def _flag(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{where}: true or false is needed, not {_shown(value)}")
    return value


_FIELDS: Final[tuple[tuple[str, str, Any], ...]] = (
    ("moments", "moments", _some(_MOMENTS)),
    ("effects", "effects", _some(EFFECTS)),
    ("hosts", "hosts", _one("one", "many")),
    ("processes", "processes", _one("one", "many")),
    ("arbitration", "arbitration", _one("both", "always", "never")),
    ("readEpoch", "read_epoch", _flag),
    ("exactNumbers", "exact_numbers", _flag),
    ("surrogates", "surrogates", _flag),
    ("audit", "audit", _flag),
    ("files", "files", _one("coordinator")),
    ("again", "again", _flag),
    ("crashPoints", "crash_points", _names),
)
