"""What a rule of the coordinator's space is made of: a `Rule`, and how its actions are made in a world.

Names of rules are words, and words that name interchangeable things are the same everywhere: runs are
`run-a`, `run-b`; commands `command-1`, `command-2`; hosts `@h1`, `@h2`; callers their contexts.
"""

from collections.abc import Callable, Iterator

from attrs import frozen

from model.actions import Action, Call
from model.explorer.coordinator.bounds import Bounds
from model.explorer.coordinator.crashing import Killed
from model.explorer.coordinator.naming import host_name
from model.explorer.space import Rule, Scope
from model.values import JSON, World

Make = Callable[[World, str], Action | Killed | None]
"""(world, reservation id or "") to the action, or `None` where the rule does not apply."""


@frozen
class Scheme:
    """A rule, and how its actions are made."""

    rule: Rule
    make: Make


def run_word(run: int) -> str:
    return f"run-{'abcdef'[run]}"


def command_word(command: int) -> str:
    return f"command-{command + 1}"


def scheme(name: str, scope: Scope, lens: str, make: Make) -> Scheme:
    return Scheme(Rule(name, scope, lens), make)


def always(action: Action) -> Make:
    return lambda _world, _slot: action


def places(bounds: Bounds) -> Iterator[tuple[str, str, str]]:
    """(host's name, caller, the end of a rule's name) of each caller at each host."""
    for number in range(bounds.hosts):
        for caller in bounds.callers:
            yield host_name(number), caller, f"@{host_name(number)} {caller}"


def call(host: str, caller: str, operation: str, arguments: dict[str, JSON] | None = None) -> Make:
    def make(_world: World, slot: str) -> Action:
        more = arguments or {}
        return Call(host, caller, operation, {"id": slot, **more} if slot else more)

    return make
