"""A trace: a list of actions with what was expected and observed. The one format for counterexamples.

A trace file is JSON, stands alone, and replays without Hypothesis, on another machine and on a later
version: `schema_version` says how to read it. Saving is atomic. A file that can't be read as a trace is a
`TraceError` that names the file, the place in it, the likely cause and what to do.

It doesn't replay itself (see `replay`) and isn't rendered here (see `reports`).
"""

import contextlib
import json
import os
import platform
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from model.values import JSON
from stateful_tests.pair import StepRecord
from stateful_tests.system import COORDINATOR, System, system_named

SCHEMA_VERSION = 1


class TraceError(ValueError):
    """A trace can't be read. The message says what, where, why, and what to do about it."""


@frozen
class TraceStep:
    """One action, the model's outcome when the trace was recorded, and the store's (none if not sent).

    `disk` tells in a few words what was on disk then, for people; `None` where nobody looked.
    """

    action: Any
    expected: JSON = None
    observed: JSON = None
    disk: JSON = None

    def to_json(self, system: System) -> dict[str, JSON]:
        told: dict[str, JSON] = {
            "action": system.action_to_json(self.action),
            "expected": self.expected,
            "observed": self.observed,
        }
        return told if self.disk is None else {**told, "disk": self.disk}


@frozen
class Trace:
    """A story: where it starts, what happens, and what was seen to differ, if anything.

    `name` is a file name's stem, `why` says what it is kept for. `initial` says in what world of the
    `system` it starts. `divergence` is a `pair.Divergence` as JSON, `clause` the rule it breaks. A
    coordinator's trace doesn't name its system in its file.
    """

    name: str
    why: str
    steps: tuple[TraceStep, ...]
    seed: int | None = None
    profile: str | None = None
    versions: Mapping[str, str] = field(factory=dict)
    initial: Mapping[str, JSON] = field(factory=dict)
    divergence: JSON = None
    clause: str | None = None
    system: str = COORDINATOR

    @property
    def actions(self) -> tuple[Any, ...]:
        return tuple(step.action for step in self.steps)

    def world(self) -> Any:
        """The world in which the trace starts."""
        return system_named(self.system).initial(self.initial)

    def to_json(self) -> dict[str, JSON]:
        system = system_named(self.system)
        named: dict[str, JSON] = {} if self.system == COORDINATOR else {"system": self.system}
        return {
            "schema_version": SCHEMA_VERSION,
            **named,
            "name": self.name,
            "why": self.why,
            "seed": self.seed,
            "profile": self.profile,
            "versions": dict(self.versions),
            "initial": dict(self.initial),
            "steps": [step.to_json(system) for step in self.steps],
            "divergence": self.divergence,
            "clause": self.clause,
        }


def record(
    name: str, why: str, records: Sequence[StepRecord], *, system: System | None = None, **rest: Any
) -> Trace:
    """The trace of what `records` saw, the divergence of the last one included. `rest`: fields of `Trace`."""
    system = system or system_named(COORDINATOR)
    steps = tuple(seen_step(one, system) for one in records)
    found = records[-1].divergence if records else None
    trace = Trace(name, why, steps, versions=versions(), system=system.name, **rest)
    return trace if found is None else evolve(trace, divergence=found.to_json(), clause=found.clause)


def seen_step(one: StepRecord, system: System) -> TraceStep:
    """What one step saw, as a trace keeps it."""
    return TraceStep(
        one.action,
        system.outcome_to_json(one.expected),
        None if one.observed is None else one.observed.to_json(),
        None if one.disk is None else dict(one.disk),
    )


def versions() -> dict[str, str]:
    """The versions that a trace names: for people; a replay doesn't depend on them."""
    from importlib import metadata  # 20 ms that a replay need not spend

    found = {"python": platform.python_version()}
    for package in ("holdtrue", "hypothesis"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found


def save(trace: Trace, path: Path) -> None:
    """Writes `trace` to `path` atomically, making its directory if need be. `OSError` if it can't be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(trace.to_json(), indent=1, ensure_ascii=True) + "\n"
    descriptor, fresh = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(fresh).replace(path)
    except BaseException:
        Path(fresh).unlink(missing_ok=True)
        raise


def load(path: Path) -> Trace:
    """The trace in `path`. `TraceError` if there is none that can be read."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=once)
    except OSError as error:
        raise TraceError(
            f"{path}: the trace can't be opened: {error.strerror}."
            " Check the path; traces of a run stand in its --out directory."
        ) from None
    except UnicodeDecodeError as error:
        raise TraceError(
            f"{path}: byte {error.start} is no UTF-8: this is no trace, or a damaged one."
        ) from None
    except json.JSONDecodeError as error:
        raise TraceError(
            f"{path}:{error.lineno}:{error.colno}: no JSON: {error.msg}."
            " The file was cut off or edited by hand; fetch it again."
        ) from None
    except RecursionError:
        raise TraceError(f"{path}: nested too deeply to be a trace.") from None
    except TraceError as error:
        raise TraceError(f"{path}: {error}") from None
    try:
        return from_json(data)
    except ValueError as error:
        raise TraceError(f"{path}: {error}") from None


def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON (`object_pairs_hook`) that says everything once. `TraceError` else."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise TraceError("a key stands twice in one object. The file was edited by hand; fetch it again.")
    return found


def from_json(data: object) -> Trace:
    """The trace that `data` (parsed JSON) describes. `TraceError` names the place that doesn't fit."""
    if not isinstance(data, dict):
        raise TraceError("trace: a JSON object is expected. Is this the file of a trace?")
    version = data.get("schema_version")
    if type(version) is not int or version != SCHEMA_VERSION:
        raise TraceError(
            f"trace.schema_version: {version!r}, and this version reads {SCHEMA_VERSION}."
            " Replay it with the version that wrote it, see trace.versions, or record it again."
        )
    for key, (kinds, needed) in _FIELDS.items():
        if key not in data:
            if needed:
                raise TraceError(
                    f"trace.{key}: missing. The file was edited or is no trace; record it again."
                )
        elif not isinstance(data[key], kinds) or isinstance(data[key], bool):
            raise TraceError(f"trace.{key}: {_shown(data[key])} is not of the right kind.")
    unknown = sorted(set(data) - set(_FIELDS) - {"schema_version"})
    if unknown:
        raise TraceError(f"trace: unknown field {unknown[0]!r}; known are {', '.join(sorted(_FIELDS))}.")
    system = _system(data)
    steps = tuple(_step(step, f"trace.steps[{index}]", system) for index, step in enumerate(data["steps"]))
    rest = {key: data[key] for key in _FIELDS if key in data and key != "steps"}
    try:
        system.initial(data.get("initial", {}))
    except ValueError as error:
        raise TraceError(f"trace.{error}") from None
    return Trace(steps=steps, **rest)


def _system(data: Mapping[str, Any]) -> System:
    try:
        return system_named(data.get("system", COORDINATOR))
    except ValueError as error:
        raise TraceError(f"trace.system: {error}. If a later version wrote this, use that one.") from None


def _step(data: object, where: str, system: System) -> TraceStep:
    known = {"action", "expected", "observed", "disk"}
    if not isinstance(data, dict) or "action" not in data or set(data) - known:
        raise TraceError(
            f"{where}: an object with action, expected and observed is expected: {_shown(data)}."
        )
    try:
        action = system.action_from_json(data["action"], f"{where}.action")
    except ValueError as error:
        raise TraceError(f"{error}. If a later version wrote this trace, replay it with that one.") from None
    return TraceStep(action, data.get("expected"), data.get("observed"), data.get("disk"))


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


_NONE = type(None)
_FIELDS: dict[str, tuple[tuple[type, ...], bool]] = {
    "name": ((str,), True),
    "why": ((str,), True),
    "steps": ((list,), True),
    "seed": ((int, _NONE), False),
    "profile": ((str, _NONE), False),
    "versions": ((dict,), False),
    "initial": ((dict,), False),
    "divergence": ((dict, _NONE), False),
    "clause": ((str, _NONE), False),
    "system": ((str,), False),
}
