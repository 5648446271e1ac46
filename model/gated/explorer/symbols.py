"""Lines by symbol: a line of the ledger is told by the request that wrote it, and its place says the rest.

`line(before, symbol)` is the line of that symbol after those; `entries` and `symbols` go from one form of a
whole ledger to the other and back. What no request of the alphabet can have written there (a tampered ledger,
a model that is wrong) gets a mark with a digest, and is remembered: such a mark says nothing to others.
"""

from collections.abc import Hashable, Mapping
from hashlib import sha256
from typing import Final

from attrs import field, frozen

from model.gated import lines
from model.gated.actions import ApplySteps, Call, Compensate, OpenLedger, Transact
from model.gated.lines import NOTHING
from model.gated.start import initial_world
from model.gated.stepping import step
from model.gated.tampering import mirror_of
from model.gated.transacting import mutated, request_hash
from model.gated.values import NO_HASH, Foul, Line, Mirror, Record

ODD: Final = "?"
Symbols = tuple[str, ...]


def is_odd(symbol: str) -> bool:
    return symbol.startswith(ODD)


@frozen
class _Kept:
    """A line of steps or of a compensation: the same wherever it stands, but for its place."""

    record: Record
    requested: str


def _key(line: Line) -> Hashable:
    """What tells a line's symbol. The event's hash does for what is the same at each place."""
    return line.name, line.request_hash, line.record.event_hash if line.name[0] else ""


@frozen
class Alphabet:
    """Knows the lines that `requests`, by their symbols, can write."""

    requests: Mapping[str, Call]
    _by_key: dict[Hashable, str] = field(factory=dict, init=False)
    _kept: dict[str, _Kept] = field(factory=dict, init=False)
    _symbols: dict[str, str] = field(factory=dict, init=False)
    _lines: dict[tuple[Symbols, str], Line] = field(factory=dict, init=False)
    _mirrors: dict[Symbols, Mirror] = field(factory=dict, init=False)
    _odd: dict[str, object] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        for symbol, request in self.requests.items():
            if isinstance(request, Transact):
                key = (("", request.idempotency_key), request_hash(request), "")
                self._by_key.setdefault(key, symbol)
            elif isinstance(request, ApplySteps | Compensate):
                for line in _written_by(request):
                    self._keep(line, symbol)

    def _keep(self, line: Line, symbol: str) -> None:
        if _key(line) in self._by_key:
            return
        told = f"{line.record.run_id}/{line.record.idempotency_key}"
        if told in self._kept:  # the same key, other content
            told = f"{told} of {symbol}"
        self._by_key[_key(line)] = told
        self._kept[told] = _Kept(line.record, line.request_hash)

    @property
    def known(self) -> Symbols:
        """All symbols of lines."""
        return tuple(self._by_key.values())

    def symbols(self, entries: tuple[Line | Foul, ...]) -> Symbols:
        """The symbols of a ledger."""
        told: list[str] = []
        previous, whole = NO_HASH, True
        for number, entry in enumerate(entries, 1):
            if isinstance(entry, Foul):
                told.append(self.remember("foul", entry.text, entry))
                whole = False
                continue
            whole = whole and entry.previous_hash == previous and entry.sequence == number
            if whole:
                # The hash of a line in its place covers all that stands before it.
                if (symbol := self._symbols.get(entry.hash)) is None:
                    symbol = self._symbols[entry.hash] = self._symbol(tuple(told), entry)
                told.append(symbol)
            else:
                told.append(self.remember("line", entry.hash, entry))
            previous = entry.hash
        return tuple(told)

    def _symbol(self, before: Symbols, line: Line) -> str:
        symbol = self._by_key.get(_key(line))
        if symbol is not None and self.line(before, symbol) == line:
            return symbol
        return self.remember("line", line.hash, line)

    def remember(self, kind: str, told: str | bytes, value: object) -> str:
        """A mark for a `kind` of thing that is `told`, by which `recall` gives `value` back."""
        digest = sha256(told.encode() if isinstance(told, str) else told).hexdigest()[:12]
        mark = f"{ODD}{kind} {digest}"
        self._odd[mark] = value
        return mark

    def recall(self, mark: str) -> object:
        return self._odd[mark]

    def entries(self, symbols: Symbols) -> tuple[Line | Foul, ...]:
        """The ledger of those symbols."""
        found: list[Line | Foul] = []
        for index, symbol in enumerate(symbols):
            entry = self.recall(symbol) if is_odd(symbol) else self.line(symbols[:index], symbol)
            assert isinstance(entry, Line | Foul)
            found.append(entry)
        return tuple(found)

    def mirror(self, symbols: Symbols) -> Mirror:
        """The mirror that has seen those lines and no other."""
        found = self._mirrors.get(symbols)
        if found is None:
            seen = tuple(each for each in self.entries(symbols) if isinstance(each, Line))
            found = self._mirrors[symbols] = mirror_of(seen)
        return found

    def line(self, before: Symbols, symbol: str) -> Line | None:
        """The line of that symbol after those; `None` after odd ones, where nobody can say it."""
        found = self._lines.get((before, symbol))
        if found is None and not any(map(is_odd, before)):
            found = self._lines[before, symbol] = self._sealed(self.mirror(before), symbol)
        return found

    def _sealed(self, mirror: Mirror, symbol: str) -> Line:
        number, previous = mirror.sequence + 1, mirror.head
        if (kept := self._kept.get(symbol)) is not None:
            return lines.sealed(number, kept.record, kept.requested, NOTHING, previous)
        request = self.requests[symbol]
        assert isinstance(request, Transact)
        after = lines.state_of(mutated(request.mutation, mirror.state))
        assert after is not None
        entry = lines.record(
            operation_id=request.operation_id,
            run_id=request.run_id,
            node_id=request.node_id,
            event_type=request.event_type,
            phase=request.phase,
            idempotency_key=request.idempotency_key,
            attempt_id=request.attempt_id,
            before=mirror.state.hash,
            after=after.hash,
        )
        change = lines.difference(mirror.state, after)
        return lines.sealed(number, entry, request_hash(request), change, previous)


def _written_by(request: ApplySteps | Compensate) -> tuple[Line, ...]:
    """The lines that it writes where nothing was written before."""
    world, _ = step(initial_world(), OpenLedger(request.client))
    world, _ = step(world, request)
    return world.ledger.lines if world.ledger is not None else ()
