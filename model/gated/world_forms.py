"""A whole world as JSON and back, for keeping one in a file.

`world_from_json(world_to_json(world)) == world`. Lines stand in the file and in the mirror, so each is
written once, into a pool, and referred to by its number. Bytes are written as hexadecimal digits.
"""

from collections.abc import Mapping
from typing import Any, cast

import attrs

from model.gated.lines import line_to_json, parsed
from model.gated.texts import canonical
from model.gated.values import Client, Effect, Foul, LedgerFile, Line, Mirror, State, World
from model.values import JSON


def world_to_json(world: World) -> dict[str, JSON]:
    lines: dict[str, JSON] = {}

    def refer(entry: Line | Foul) -> JSON:
        if isinstance(entry, Foul):
            return {"foul": entry.text.hex()}
        lines.setdefault(entry.hash, line_to_json(entry))
        return entry.hash

    ledger, mirror = world.ledger, world.mirror
    form: dict[str, JSON] = {
        "ledger": None
        if ledger is None
        else {"entries": [refer(each) for each in ledger.entries], "tail": ledger.tail.hex()},
        "mirror": {
            "lines": [refer(each) for each in mirror.lines],
            "rows": [list(row) for row in mirror.state.rows],
            "size": mirror.size,
        }
        if isinstance(mirror, Mirror)
        else mirror,
        "clients": [attrs.asdict(each) for each in world.clients],
        "effects": [attrs.asdict(each) for each in world.effects],
        "acknowledged": cast(JSON, sorted(world.acknowledged)),
        "wounds": cast(JSON, sorted(world.wounds)),
        "pardoned": world.pardoned,
    }
    return {"lines": lines, "world": form}


def world_from_json(form: Mapping[str, Any]) -> World:
    """Raises `ValueError` or `KeyError` for what `world_to_json` cannot have written."""
    lines: dict[str, Line] = {}
    for digest, each in form["lines"].items():
        line = parsed(canonical(each).encode() + b"\n")
        if isinstance(line, Foul) or line.hash != digest:
            raise ValueError(f"lines.{digest}: no valid line")
        lines[digest] = line

    def entry(each: Any) -> Line | Foul:
        return lines[each] if isinstance(each, str) else Foul(bytes.fromhex(each["foul"]))

    world = form["world"]
    ledger, mirror = world["ledger"], world["mirror"]
    if ledger is not None:
        entries, tail = tuple(map(entry, ledger["entries"])), bytes.fromhex(ledger["tail"])
        size = sum(len(each.text) for each in entries) + len(tail)
        ledger = LedgerFile(entries, tail, size)
    if isinstance(mirror, Mapping):
        rows = tuple((name, text) for name, text in mirror["rows"])
        mirror = Mirror(tuple(lines[each] for each in mirror["lines"]), State(rows), mirror["size"])
    return World(
        ledger,
        mirror,
        tuple(Client(**each) for each in world["clients"]),
        tuple(Effect(**each) for each in world["effects"]),
        frozenset(world["acknowledged"]),
        frozenset(world["wounds"]),
        world["pardoned"],
    )
