"""How the store is called: what goes by position, and what only by name.

Guarantees: a call of the public surface reads as what it does: numbers, limits and flags go by their names
alone. So does every flag inside `impl`, but where it is all that a function takes or is merely handed on.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

import impl
from impl import Coordinator, CoordinatorError, audit_directory, open_coordinator, read_durable_epoch
from impl.gated import Ledger, LedgerError, audit_ledger, open_ledger

BY_POSITION: dict[Callable[..., Any], str] = {
    open_coordinator: "directory",
    read_durable_epoch: "directory",
    audit_directory: "directory",
    Coordinator.call: "self operation arguments context",
    Coordinator.reserve: "self context",
    Coordinator.commit: "self context reservation_id",
    Coordinator.renew: "self context reservation_id",
    Coordinator.mark_orphan_suspect: "self context reservation_id",
    Coordinator.normal_release: "self context reservation_id",
    Coordinator.force_release: "self context reservation_id",
    Coordinator.set_max_active_runs: "self context",
    Coordinator.read_reservation: "self context reservation_id",
    Coordinator.read_command: "self context command_id",
    Coordinator.snapshot: "self context",
    Coordinator.dispatch: "self context reservation_id prepare",
    CoordinatorError: "code message",
    open_ledger: "directory",
    audit_ledger: "directory",
    Ledger.transact: "self request",
    Ledger.apply_steps: "self request",
    Ledger.compensate: "self request",
    LedgerError: "code message recoverability",
}
HANDED_ON = {"impl.converter.converter_of", "impl.loading._check_interrupted_genesis"}


@pytest.mark.parametrize("function", BY_POSITION, ids=lambda function: function.__qualname__)
def test_options_of_the_public_surface_go_by_name_alone(function: Callable[..., Any]) -> None:
    taken = [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY
    ]
    assert taken == BY_POSITION[function].split()
    by_name = [name for name in inspect.signature(function).parameters if name not in taken]
    with pytest.raises(TypeError, match="positional"):
        function(*[None] * (len(taken) + 1), **dict.fromkeys(by_name[1:]))


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(impl.__path__, "impl."):
        if "tests" not in found.name.split("."):
            yield importlib.import_module(found.name)


def test_a_flag_says_by_its_name_what_it_means() -> None:
    flags = set()
    for module in modules():
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ != module.__name__ or f"{module.__name__}.{name}" in HANDED_ON:
                continue
            for parameter in inspect.signature(function).parameters.values():
                if parameter.annotation is bool:
                    flags.add(parameter.name)
                    assert parameter.kind is inspect.Parameter.KEYWORD_ONLY, (name, parameter.name)
    assert flags >= {"initialize", "forked", "trusted", "exactly"}
