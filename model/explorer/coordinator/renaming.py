"""The symmetries of the coordinator's space besides that of reservation ids: runs, and commands.

Swapping two runs, or two commands, in a state and in the names of rules changes nothing else. What is
declared is the whole group that those swaps make.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations, product

from attrs import evolve

from model.explorer.coordinator.bounds import Bounds
from model.explorer.coordinator.schemes import command_word, run_word
from model.explorer.coordinator.values import Shared, Slot
from model.explorer.space import Renaming, Rule

_Map = tuple[int, ...]
"""Where each number goes."""


def renamings(bounds: Bounds, rules: Sequence[Rule]) -> tuple[Renaming[Shared, Slot], ...]:
    """All but the one that renames nothing."""
    found = []
    for runs, commands in product(_maps(bounds.runs if bounds.runs_alike else 0), _maps(bounds.commands)):
        words = {run_word(old): run_word(new) for old, new in enumerate(runs)}
        words.update((command_word(old), command_word(new)) for old, new in enumerate(commands))
        if any(old != new for old, new in words.items()):
            found.append(_renaming(runs, commands, words, rules))
    return tuple(found)


def _maps(many: int) -> Iterator[_Map]:
    return permutations(range(many))


def _renaming(
    runs: _Map, commands: _Map, words: dict[str, str], rules: Sequence[Rule]
) -> Renaming[Shared, Slot]:
    names = {rule.name: " ".join(words.get(word, word) for word in rule.name.split(" ")) for rule in rules}
    name = ", ".join(f"{old} to {new}" for old, new in words.items() if old != new)
    return Renaming(name, _of_shared(commands), _of_slot(runs, commands), names.__getitem__)


def _of_shared(commands: _Map) -> Callable[[Shared], Shared]:
    places = [commands.index(place) for place in range(len(commands))]

    def rename(shared: Shared) -> Shared:
        if not any(shared.commands):
            return shared
        return evolve(shared, commands=tuple(shared.commands[place] for place in places))

    return rename


def _of_slot(runs: _Map, commands: _Map) -> Callable[[Slot], Slot]:
    def moved(number: int | None, way: _Map) -> int | None:
        return number if number is None or not way else way[number]

    def rename(slot: Slot) -> Slot:
        if slot.run is None and slot.command is None and slot.elsewhere is None:
            return slot
        return evolve(
            slot,
            run=moved(slot.run, runs),
            elsewhere=moved(slot.elsewhere, runs),
            command=moved(slot.command, commands),
        )

    return rename
