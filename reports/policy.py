"""The policy of a gate: a TOML file that says what a run must have shown, and what is put up with until when.

Whatever `parse` returns is whole and of the right kinds. A key that is not known is an error, never ignored:
a mistyped floor must not be a floor that nobody keeps. Each error names its place. Nothing is read here.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any, Final, Literal

from attrs import field, frozen

SCHEMA_VERSION: Final = 1
_ID: Final = re.compile(r"[0-9a-f]{16}")
_SUPPRESSED: Final = ("failure", "property", "floor")
_TARGETS: Final = ("code", "missing", "field")  # the tables of the other policy, of docs/protocol.md
_REQUIRE: Final = ("profiles", "phases", "properties", "committed", "target", "whole")
_TABLES: Final = ("schema_version", "require", "floors", "against", "suppress")


class PolicyError(ValueError):
    """The policy can't be used. The message says where, what is wrong, and what to do."""


@frozen
class Suppression:
    """What is put up with, by whom, why, and until the end of which day (UTC).

    `kind` says what `what` is: the id of a failure, a property (its id, or the clause that a failure names),
    or the key of a floor, a last `*` standing for any ending.
    """

    kind: Literal["failure", "property", "floor"]
    what: str
    owner: str
    reason: str
    expires: date

    def holds(self, today: date) -> bool:
        return today <= self.expires

    def to_json(self) -> dict[str, str]:
        """As `suppressions` of `results.json` has them."""
        day = self.expires.isoformat()
        return {
            "what": f"{self.kind} {self.what}",
            "owner": self.owner,
            "reason": self.reason,
            "expires": day,
        }

    @property
    def told(self) -> str:
        return f"{self.kind} {self.what} (until {self.expires.isoformat()}, {self.owner}: {self.reason})"


@frozen
class Policy:
    """What a run must have shown. Each field's default asks for nothing.

    `properties` are ids, or "all" for each one that the run knows. `floors` are least counts, of `actions`,
    of `kills`, or by any key of a phase's counts. `may_fall` is the share of actions and of kills by which a
    run may do less than the older one. `target` is the command of the target that was checked, `None` for the
    project's own store; `whole` says that no phase of the check may have been left out.
    """

    profiles: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    properties: tuple[str, ...] | Literal["all"] = ()
    committed: bool = False
    target: str | None = None
    whole: bool = True
    floors: Mapping[str, int] = field(factory=dict)
    may_fall: float | None = None
    properties_may_go: bool = False
    store_may_change: bool = False
    deviations_may_grow: bool = False
    suppressions: tuple[Suppression, ...] = ()


def with_suppressions(results: Mapping[str, Any], policy: Policy | None) -> dict[str, Any]:
    """`results` as a renderer shows them under `policy`: with what it suppresses, expired or not."""
    listed = () if policy is None else policy.suppressions
    return {**results, "suppressions": [*results["suppressions"], *(one.to_json() for one in listed)]}


def parse(text: str) -> Policy:
    """The policy that `text` (TOML) is. PolicyError if it is none."""
    text = text.removeprefix("\ufeff")  # a mark that some editors write, and that TOML doesn't know
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise PolicyError(f"this is no TOML: {error}") from error
    places = _Places(text)
    if other := sorted(data.keys() & _TARGETS):
        raise PolicyError(
            f"{places.of(other[0])}: no such key here; this looks like the policy of a target, "
            "which `holdtrue check --target` takes"
        )
    _known(data, _TABLES, "", places)
    if (version := data.get("schema_version")) != SCHEMA_VERSION or isinstance(version, bool):
        found = "nothing" if version is None else repr(version)
        raise PolicyError(
            f"schema_version: {found} stands there, and this version reads {SCHEMA_VERSION}; "
            f"write `schema_version = {SCHEMA_VERSION}` in the first line"
        )
    require = _table(data, "require", _REQUIRE, places)
    against = _table(
        data, "against", ("may_fall", "properties_may_go", "store_may_change", "deviations_may_grow"), places
    )
    properties = require.get("properties", [])
    listed = data.get("suppress", [])
    if not isinstance(listed, list):
        raise PolicyError(f"{places.of('suppress')}: write each one as a table of its own, [[suppress]]")
    return Policy(
        profiles=_texts(require, "require", "profiles", places),
        phases=_texts(require, "require", "phases", places),
        properties="all" if properties == "all" else _texts(require, "require", "properties", places),
        committed=_flag(require, "require", "committed", places),
        target=_target(require, places),
        whole=_flag(require, "require", "whole", places, default=True),
        floors=_floors(data.get("floors", {}), places),
        may_fall=_share(against, places),
        properties_may_go=_flag(against, "against", "properties_may_go", places),
        store_may_change=_flag(against, "against", "store_may_change", places),
        deviations_may_grow=_flag(against, "against", "deviations_may_grow", places),
        suppressions=tuple(_suppression(one, f"suppress[{at}]", places) for at, one in enumerate(listed)),
    )


@frozen
class _Places:
    """Says where a key stands: its path and, where it can be found in the text, its line."""

    text: str

    def of(self, path: str) -> str:
        """`path` with the line of its key, or else of the `[[suppress]]` to which it belongs."""
        key = re.escape(path.rpartition(".")[2])
        lines = self._lines(rf"\s*(\[+\s*)?([\w\"'.-]+\.)?[\"']?{key}[\"']?\s*(=|\]|\.)")
        if table := re.match(r"suppress\[(\d+)\]", path):
            begins = self._lines(r"\s*\[\[\s*[\"']?suppress[\"']?\s*\]\]")
            first, end = [*begins, *[len(self.text)] * 2][int(table[1]) :][:2] if begins else (0, 0)
            lines = [line for line in lines if first < line < end] or [*begins[int(table[1]) :][:1]]
        return f"{path} (line {lines[0]})" if len(lines) == 1 else path

    def _lines(self, pattern: str) -> list[int]:
        form = re.compile(pattern)
        return [at for at, line in enumerate(self.text.splitlines(), 1) if form.match(line)]


def _known(table: Mapping[str, Any], known: Iterable[str], where: str, places: _Places) -> None:
    for key in table:
        if key not in known:
            path = f"{where}.{key}" if where else key
            raise PolicyError(f"{places.of(path)}: no such key; known here are {', '.join(known)}")


def _table(data: Mapping[str, Any], name: str, known: tuple[str, ...], places: _Places) -> Mapping[str, Any]:
    table = data.get(name, {})
    if not isinstance(table, dict):
        raise PolicyError(f"{places.of(name)}: a table is needed, [{name}]")
    _known(table, known, name, places)
    return table


def _texts(table: Mapping[str, Any], where: str, name: str, places: _Places) -> tuple[str, ...]:
    found = table.get(name, [])
    if not isinstance(found, list) or not all(isinstance(one, str) and one for one in found):
        either = ' (or "all")' if name == "properties" else ""
        raise PolicyError(f"{places.of(f'{where}.{name}')}: a list of texts is needed{either}, not {found!r}")
    return tuple(found)


def _target(require: Mapping[str, Any], places: _Places) -> str | None:
    if (found := require.get("target")) is None:
        return None
    if not isinstance(found, str) or not found.strip():
        raise PolicyError(
            f"{places.of('require.target')}: the command is needed that --target names, as a text, not "
            f"{found!r}; leave the key out for the project's own store"
        )
    return found


def _flag(table: Mapping[str, Any], where: str, name: str, places: _Places, *, default: bool = False) -> bool:
    found = table.get(name, default)
    if not isinstance(found, bool):
        raise PolicyError(f"{places.of(f'{where}.{name}')}: true or false is needed, not {found!r}")
    return found


def _floors(table: Any, places: _Places) -> Mapping[str, int]:
    if not isinstance(table, dict):
        raise PolicyError(f"{places.of('floors')}: a table is needed, [floors]")
    for key, least in table.items():
        if type(least) is not int or least < 1:
            quote = " (a key with a dot or a slash stands in quotes)" if isinstance(least, dict) else ""
            raise PolicyError(f"{places.of(f'floors.{key}')}: a number from 1 on is needed{quote}")
    return dict(table)


def _share(against: Mapping[str, Any], places: _Places) -> float | None:
    found = against.get("may_fall")
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= 1:
        raise PolicyError(f"{places.of('against.may_fall')}: a share from 0 to 1 is needed, not {found!r}")
    return float(found)


def _suppression(table: Any, where: str, places: _Places) -> Suppression:
    at = places.of(where)
    if not isinstance(table, dict):
        raise PolicyError(f"{at}: a table is needed, [[suppress]]")
    _known(table, (*_SUPPRESSED, "owner", "reason", "expires"), where, places)
    kinds = [kind for kind in _SUPPRESSED if kind in table]
    if len(kinds) != 1:
        raise PolicyError(f"{at}: one of {', '.join(_SUPPRESSED)} is needed, and {len(kinds)} stand there")
    told = {}
    for name in (kinds[0], "owner", "reason"):
        value = table.get(name)
        if not isinstance(value, str) or not value.strip():
            raise PolicyError(f"{places.of(f'{where}.{name}')}: a text is needed, not {value!r}")
        told[name] = value
    if kinds[0] == "failure" and not _ID.fullmatch(told["failure"]):
        raise PolicyError(
            f"{places.of(where + '.failure')}: the id of a failure is needed, 16 hexadecimal digits"
        )
    expires = table.get("expires")
    if not isinstance(expires, date) or isinstance(expires, datetime):
        raise PolicyError(
            f"{places.of(where + '.expires')}: a date without quotes is needed, such as 2031-01-31"
        )
    return Suppression(kinds[0], told[kinds[0]], told["owner"], told["reason"], expires)  # type: ignore[arg-type]
