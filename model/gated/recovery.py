"""What a ledger and a mirror that are found together mean: intact, behind, to be cut, or beyond belief.

`whole` judges both from the first byte, as opening does; `beyond` only what stands after the mirror's last
line, as every call does. Neither changes anything: a refusal for integrity leaves each byte as it was.
"""

from typing import Final, Literal

from attrs import frozen

from model.gated.lines import chain_breaks_at, fold
from model.gated.values import NO_HASH, Foul, LedgerFile, Line, Mirror, Wreck

MirrorReport = Literal["intact", "caught-up", "rebuilt"]

EMPTY: Final = LedgerFile()


@frozen
class Findings:
    """`lines` are those that stay, all valid; `cut` bytes at the end go; `missing` the mirror has not seen.

    With `rebuild`, there is no mirror to speak of, and `missing` are all lines.
    """

    lines: tuple[Line, ...]
    cut: int
    missing: tuple[Line, ...]
    rebuild: bool = False


def whole(ledger: LedgerFile, mirror: Mirror | Wreck) -> Findings | None:
    """What opening finds, or `None` for LEDGER_INTEGRITY_FAILED."""
    entries, cut = ledger.entries, len(ledger.tail)
    broken = chain_breaks_at(entries)
    lines = tuple(each for each in entries[:broken] if isinstance(each, Line))
    if isinstance(mirror, Mirror):
        seen = mirror.sequence
        if seen > len(lines) or mirror.head != (lines[seen - 1].hash if seen else NO_HASH):
            return None
    sound = isinstance(mirror, Mirror) and is_projection(mirror, lines)
    if broken is not None:
        last = entries[broken]
        if not sound or not isinstance(last, Foul) or broken != len(entries) - 1 or cut:
            return None
        if not isinstance(mirror, Mirror) or mirror.sequence != broken:
            return None
        cut = len(last.text)
    if isinstance(mirror, Mirror) and sound:
        return Findings(lines, cut, lines[mirror.sequence :])
    return Findings(lines, cut, lines, rebuild=True)


def is_projection(mirror: Mirror, lines: tuple[Line, ...]) -> bool:
    """Whether the mirror holds what the first lines make, as many as it says it has seen."""
    seen = lines[: mirror.sequence]
    return (
        mirror.lines == seen
        and mirror.size == sum(len(each.text) for each in seen)
        and mirror.state == fold(seen)
    )


def beyond(ledger: LedgerFile, mirror: Mirror) -> Findings | None:
    """What a call finds that begins, or `None` for LEDGER_INTEGRITY_FAILED. `lines` are not looked at."""
    entries, at, size = ledger.entries, 0, 0
    while size < mirror.size and at < len(entries):
        size += len(entries[at].text)
        at += 1
    if size != mirror.size:
        return None
    if at:
        anchor = entries[at - 1]
        if isinstance(anchor, Foul) or anchor.hash != mirror.head:
            return None
    sequence, previous, cut = mirror.sequence, mirror.head, len(ledger.tail)
    missing: list[Line] = []
    for entry in entries[at:]:
        if isinstance(entry, Foul):
            if missing or cut or entry is not entries[-1]:
                return None
            cut = len(entry.text)
        elif entry.sequence != sequence + 1 or entry.previous_hash != previous:
            return None
        else:
            sequence, previous = entry.sequence, entry.hash
            missing.append(entry)
    return Findings((), cut, tuple(missing))


def in_step(ledger: LedgerFile | None, mirror: Mirror) -> bool:
    """Nothing stands beyond the mirror's last line, which is the ledger's last."""
    if ledger is None or ledger.size != mirror.size:
        return False
    if not mirror.lines:
        return True
    last = ledger.entries[-1] if ledger.entries else None
    return not ledger.tail and isinstance(last, Line) and last.hash == mirror.head
