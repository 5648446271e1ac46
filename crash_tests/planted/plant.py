"""Builds a fault into the store as it is imported, without touching its source.

A fault is a few lines of `impl` told differently. `plant` hooks the import system, so that the named
modules are compiled from the changed text; it has to come before the first import of `impl` in the
process, and says so if it comes too late. A change whose original lines are not found exactly once is
refused: a fault that no longer fits the source would silently plant nothing.

It does not undo itself: a process with a fault is thrown away.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType

from attrs import frozen


class PlantError(Exception):
    """The fault does not fit the source. Mend the catalogue entry: the source has moved on."""


@frozen
class Change:
    """In `module`, the text `find` (exactly one place) becomes `replace`."""

    module: str
    find: str
    replace: str


@frozen
class Fault:
    """A named, small change of the store.

    `sentence` is what the store does then, `breaks` what no longer holds: a clause id, or the words of the
    specification. `equivalent` is the argument why nobody could tell the changed store from the sound one,
    where that is so.
    """

    id: str
    sentence: str
    breaks: str
    changes: tuple[Change, ...]
    equivalent: str = ""


def changed_source(change: Change, source: str) -> str:
    """`source` with the change made; `PlantError` unless its text stands there exactly once."""
    places = source.count(change.find)
    if places != 1:
        raise PlantError(
            f"{change.module}: the lines to change stand there {places} times, not once:\n{change.find}"
        )
    return source.replace(change.find, change.replace)


class _ChangedLoader(importlib.machinery.SourceFileLoader):
    def __init__(self, fullname: str, path: str, changes: Sequence[Change]) -> None:
        super().__init__(fullname, path)
        self._changes = changes

    def get_code(self, fullname: str) -> CodeType:
        # Never the cached bytecode: that is of the sound source.
        path = self.get_filename(fullname)
        source = self.get_data(path).decode("utf-8")
        for change in self._changes:
            source = changed_source(change, source)
        return compile(source, path, "exec", dont_inherit=True)


class _Planter(importlib.abc.MetaPathFinder):
    def __init__(self, changes: Sequence[Change]) -> None:
        self._by_module: dict[str, list[Change]] = {}
        for change in changes:
            self._by_module.setdefault(change.module, []).append(change)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        changes = self._by_module.get(fullname)
        if changes is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None:
            raise PlantError(f"{fullname}: no such module to plant a fault in")
        return importlib.util.spec_from_file_location(
            fullname,
            spec.origin,
            loader=_ChangedLoader(fullname, spec.origin, changes),
            submodule_search_locations=spec.submodule_search_locations,
        )


def plant(fault: Fault) -> None:
    """From now on this process imports the store with `fault` in it."""
    loaded = sorted({change.module for change in fault.changes} & set(sys.modules))
    if loaded:
        raise PlantError(f"{', '.join(loaded)} imported already: plant the fault before the store is loaded")
    sys.meta_path.insert(0, _Planter(fault.changes))
