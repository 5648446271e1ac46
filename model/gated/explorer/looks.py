"""A world of the ledger without what grows and means nothing: `Look`, and how worlds become looks and back.

Equal looks are equal files, byte by byte. Effects of idempotent steps are told once, others at most twice,
and their order not at all. Clients stand apart: they are the slots of the space.

`forge(look(world))` is a world in which the same can happen, with the same outcomes; tests walk and compare.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final, cast

from attrs import field, frozen

from model.gated.explorer.symbols import Alphabet, Symbols, is_odd
from model.gated.values import Client, Effect, Foul, LedgerFile, Line, Mirror, World, Wreck

HALF: Final = "half of "
Effects = tuple[tuple[str, str, str, bool, int], ...]


@frozen(cache_hash=True)
class Look:
    """`ledger` has a symbol for each line, `None` without a file; `tail` is what follows the last newline.

    `mirror` is the number of lines that it has seen, or what is the matter with it. `effects` are (run, key,
    kind, idempotent, how often: 2 for more), `pardoned` those that the store may have forgotten (told once).
    `acknowledged` is the number of lines that somebody was told of or, where these are no first ones, which.
    """

    ledger: Symbols | None = None
    tail: str = ""
    mirror: int | str = "missing"
    effects: Effects = ()
    pardoned: Effects = ()
    acknowledged: int | Symbols = 0
    wounds: tuple[str, ...] = ()


@frozen
class Looks:
    """Goes from worlds to looks and back, for one alphabet."""

    alphabet: Alphabet
    _tails: dict[tuple[Symbols, bytes], str] = field(factory=dict, init=False)
    _files: dict[tuple[Symbols, str], LedgerFile] = field(factory=dict, init=False)

    def look(self, world: World) -> Look:
        ledger = world.ledger
        entries = ledger.entries if ledger is not None else ()
        symbols = self.alphabet.symbols(entries)
        return Look(
            None if ledger is None else symbols,
            "" if ledger is None else self._tail(symbols, ledger.tail),
            self._mirror(world.mirror, entries) if isinstance(world.mirror, Mirror) else world.mirror,
            _counted(world.effects[world.pardoned :]),
            _counted(world.effects[: world.pardoned], most=1),
            _acknowledged(world, entries),
            tuple(sorted(world.wounds)),
        )

    def forge(self, look: Look, clients: Iterable[Client] = ()) -> World:
        """A world with this look, in which these clients have the store open."""
        ledger = None if look.ledger is None else self._file(look.ledger, look.tail)
        entries = ledger.entries if ledger is not None else ()
        told = look.acknowledged
        if isinstance(told, int):
            told = tuple(each.hash for each in entries[:told] if isinstance(each, Line))
        pardoned = _effects(look.pardoned)
        return World(
            ledger,
            self._mirror_from(look),
            tuple(clients),
            (*pardoned, *_effects(look.effects)),
            frozenset(told),
            frozenset(look.wounds),
            len(pardoned),
        )

    def _tail(self, before: Symbols, tail: bytes) -> str:
        if not tail:
            return ""
        told = self._tails.get((before, tail))
        if told is None:
            halves = (symbol for symbol in self.alphabet.known if self._half(before, symbol) == tail)
            symbol = next(halves, None)
            told = HALF + symbol if symbol is not None else self.alphabet.remember("tail", tail, tail)
            self._tails[before, tail] = told
        return told

    def _half(self, before: Symbols, symbol: str) -> bytes | None:
        """What an append leaves that got no further."""
        line = self.alphabet.line(before, symbol)
        return None if line is None else line.text[: len(line.text) // 2]

    def _file(self, symbols: Symbols, tail: str) -> LedgerFile:
        found = self._files.get((symbols, tail))
        if found is None:
            entries = self.alphabet.entries(symbols)
            rest = self.alphabet.recall(tail) if is_odd(tail) else b""
            if tail.startswith(HALF):
                rest = self._half(symbols, tail.removeprefix(HALF))
            assert isinstance(rest, bytes)
            found = LedgerFile(entries, rest, sum(len(each.text) for each in entries) + len(rest))
            self._files[symbols, tail] = found
        return found

    def _mirror(self, mirror: Mirror, entries: tuple[Line | Foul, ...]) -> int | str:
        seen = self.alphabet.symbols(mirror.lines)
        if mirror.lines == entries[: mirror.sequence] and mirror == self.alphabet.mirror(seen):
            return mirror.sequence
        told = [*(line.hash for line in mirror.lines), repr(mirror.state.rows), str(mirror.size)]
        return self.alphabet.remember("mirror", "\n".join(told), mirror)

    def _mirror_from(self, look: Look) -> Mirror | Wreck:
        if isinstance(look.mirror, int):
            return self.alphabet.mirror((look.ledger or ())[: look.mirror])
        if is_odd(look.mirror):
            mirror = self.alphabet.recall(look.mirror)
            assert isinstance(mirror, Mirror)
            return mirror
        return cast(Wreck, look.mirror)


def _acknowledged(world: World, entries: tuple[Line | Foul, ...]) -> int | Symbols:
    told = world.acknowledged
    many = len(told)
    # Of a line that was repeated two entries have one hash: counting them would not do.
    if {getattr(each, "hash", None) for each in entries[:many]} == told:
        return many
    return tuple(sorted(told))


def _counted(effects: tuple[Effect, ...], most: int = 2) -> Effects:
    counts = Counter((each.run_id, each.key, each.kind, each.idempotent) for each in effects)
    return tuple(sorted((*each, 1 if each[3] else min(many, most)) for each, many in counts.items()))


def _effects(told: Effects) -> tuple[Effect, ...]:
    return tuple(
        Effect(run, key, kind, idempotent)  # type: ignore[arg-type]  # it came from an effect
        for run, key, kind, idempotent, many in told
        for _ in range(many)
    )
