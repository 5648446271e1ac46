"""What somebody does to the files behind the store's back; see `model.gated.actions.Tamper`.

The ledger is changed as bytes and read anew, so that each byte of it counts. What cannot be done, such as
cutting more bytes than there are, is declined and leaves the world as it was.
"""

from typing import Final

from attrs import evolve

from model.gated.actions import Tamper
from model.gated.lines import chain_breaks_at, fold, parsed, record, replayed, request_hash, sealed
from model.gated.outcomes import Declined
from model.gated.texts import utf16
from model.gated.values import (
    NO_HASH,
    Change,
    Foul,
    LedgerFile,
    Line,
    Mirror,
    State,
    World,
    Wreck,
)

INTRUDER: Final = ("intruder", '"was here"')
"""The row that `mirror-edited` puts into the mirror."""


def tamper(world: World, action: Tamper) -> World | Declined:
    if action.kind.startswith("mirror-"):
        return _with_mirror(world, action)
    if world.ledger is None:
        return Declined("there is no ledger")
    wounds = world.wounds | {"ledger"}
    if action.kind == "ledger-deleted":
        return evolve(world, ledger=None, wounds=wounds)
    changed = _bytes_after(world.ledger, action)
    if isinstance(changed, Declined):
        return changed
    known = {each.text: each for each in world.ledger.entries if isinstance(each, Line)}
    return evolve(world, ledger=read(changed, known), wounds=wounds)


def read(whole: bytes, known: dict[bytes, Line] | None = None) -> LedgerFile:
    """The file with these bytes; lines that are `known` need not be parsed."""
    *pieces, tail = whole.split(b"\n")
    texts = [piece + b"\n" for piece in pieces]
    entries: list[Line | Foul] = [(known or {}).get(text) or parsed(text) for text in texts]
    return LedgerFile(tuple(entries), tail, len(whole))


def _bytes_after(ledger: LedgerFile, action: Tamper) -> bytes | Declined:
    texts = [each.text for each in ledger.entries]
    at, n = action.line - 1, action.n
    if action.kind == "tail-cut":
        whole = b"".join(texts) + ledger.tail
        return whole[:-n] if 0 < n <= len(whole) else Declined("there are not as many bytes to cut")
    if action.kind == "tail-torn":
        last = texts[-1][:-1] if texts else b""
        if not 0 < n <= len(last):
            return Declined("there is no line of so many bytes")
        return b"".join(texts) + ledger.tail + last[:n]
    if not 0 <= at < len(texts):
        return Declined(f"there is no line {action.line}")
    if action.kind == "line-appended":
        return b"".join((*texts, ledger.tail, texts[at]))
    if action.kind == "line-swapped":
        if at + 1 == len(texts):
            return Declined(f"there is no line after line {action.line}")
        texts[at : at + 2] = texts[at + 1], texts[at]
    elif action.kind == "line-removed":
        del texts[at]
    elif action.kind == "line-repeated":
        texts.insert(at, texts[at])
    else:
        if not 0 <= n < len(texts[at]):
            return Declined(f"line {action.line} has no byte {n}")
        edited = bytearray(texts[at])
        edited[n] ^= 1
        texts[at] = bytes(edited)
    return b"".join(texts) + ledger.tail


_WRECKS: Final[dict[str, Wreck]] = {
    "mirror-deleted": "missing",
    "mirror-emptied": "empty",
    "mirror-corrupt": "corrupt",
    "mirror-schema": "schema",
}


def _with_mirror(world: World, action: Tamper) -> World | Declined:
    if world.clients:
        return Declined("somebody has the mirror open")
    mirror = _mirror_after(world, action)
    if isinstance(mirror, Declined):
        return mirror
    return evolve(world, mirror=mirror, wounds=world.wounds | {"mirror"})


def _mirror_after(world: World, action: Tamper) -> Mirror | Wreck | Declined:
    mirror = world.mirror
    if action.kind == "mirror-behind":
        return _earlier(world, action.n)
    if action.kind == "mirror-foreign":
        return foreign(action.n) if action.n > 0 else Declined("every ledger begins alike")
    if mirror == "missing":
        return Declined("there is no mirror")
    if action.kind in ("mirror-schema", "mirror-edited") and not isinstance(mirror, Mirror):
        return Declined("nobody can read that mirror")
    if action.kind != "mirror-edited":
        return _WRECKS[action.kind]
    assert isinstance(mirror, Mirror)
    rows = dict(mirror.state.rows)
    if rows.get(INTRUDER[0]) == INTRUDER[1]:
        return Declined("that row is there already")
    rows.update([INTRUDER])
    return evolve(mirror, state=State(tuple(sorted(rows.items(), key=lambda row: utf16(row[0])))))


def _earlier(world: World, n: int) -> Mirror | Declined:
    entries = world.ledger.entries if world.ledger is not None else ()
    if chain_breaks_at(entries) is not None or not 0 <= n <= len(entries):
        return Declined("there never was such a mirror")
    return mirror_of(tuple(each for each in entries[:n] if isinstance(each, Line)))


def mirror_of(lines: tuple[Line, ...]) -> Mirror:
    """The mirror that has seen these lines and no other."""
    return Mirror(lines, fold(lines), sum(len(each.text) for each in lines))


def foreign(n: int) -> Mirror:
    """The mirror of a ledger that is not this one, at sequence `n`."""
    lines: list[Line] = []
    state = State()
    for sequence in range(1, n + 1):
        change = Change((("elsewhere", str(sequence)),))
        after = replayed(state, change)
        key = f"elsewhere-{sequence}"
        names = {"operation_id": key, "run_id": key, "node_id": key, "event_type": key, "phase": "apply"}
        entry = record(**names, idempotency_key=key, attempt_id=None, before=state.hash, after=after.hash)
        requested = request_hash(**names, idempotency_key=key, attempt_id=None)
        previous = lines[-1].hash if lines else NO_HASH
        lines.append(sealed(sequence, entry, requested, change, previous))
        state = after
    return mirror_of(tuple(lines))
