"""The store under test: actions go in, what came of them and what can be seen afterwards come out.

`StoreTarget` is this project's own store in a real directory, in this process: several hosts are several
open coordinators. Whatever a store raises that is no coordinator error is a `Crashed`, which is a violation
wherever it occurs. Call `observe` after every action if a state is ever to be put back: it is what notices
publications.

It holds no opinion: expectations are the model's, comparing is `lockstep`'s.
"""

import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from attrs import frozen

import impl
from impl import codec, disk
from model.actions import (
    Action,
    Call,
    Close,
    Damage,
    Disturbance,
    LeaveTemp,
    Mend,
    Open,
    PutBack,
    ReadEpoch,
)
from model.values import JSON
from stateful_tests.files import StoreFiles
from stateful_tests.observe import Observation, Observer, Sight
from stateful_tests.patience import HungError, at_most
from stateful_tests.surroundings import ArbitratingAuthority, HostAuthority, Surroundings, copied

HUNG_S = 3.0
"""How long an operation may take while damage stands. No honest one comes near it: nothing is synced then."""


@frozen
class Answered:
    """The store did it and answered this, as JSON."""

    value: JSON

    def to_json(self) -> dict[str, JSON]:
        return {"accepted": self.value}


@frozen
class Refusal:
    """The store refused, or failed, with a coordinator error."""

    code: str
    side_effects: str = "none"

    def to_json(self) -> dict[str, JSON]:
        return {"refused": self.code, "sideEffects": self.side_effects}


@frozen
class Crashed:
    """The store broke its contract: something else than a coordinator error came out of it."""

    text: str

    def to_json(self) -> dict[str, JSON]:
        return {"crashed": self.text}


Result = Answered | Refusal | Crashed


class Target(Protocol):
    """A store under test."""

    def apply(self, action: Action) -> Result:
        """Lets `action` happen. `LookupError` if it names what is not there (a host, an earlier state)."""

    def observe(self) -> Observation:
        """What the store shows now."""

    @property
    def struck(self) -> tuple[str, ...]:
        """The last action's disturbances that really struck, as `coverage` counts them."""

    @property
    def shown(self) -> tuple[tuple[str, JSON], ...] | None:
        """What `authorize` was shown in the last action; `None` where that can't be told."""

    @property
    def meddled(self) -> int:
        """How often the files have been changed from outside so far."""

    def close(self) -> None:
        """Closes every host."""


class StoreTarget:
    """The project's own store in `directory`, which is made by the first opening.

    Damages move files to `<directory>.aside`, so the parent must be writable and on the same file system.
    """

    def __init__(self, directory: Path, *, lock_timeout_s: float = 2.0) -> None:
        self.files = StoreFiles(directory)
        self.around = Surroundings(_refusal, self._elsewhere, self._reenter)
        self.hosts: dict[str, impl.Coordinator] = {}
        self._observer = Observer(self.files)
        self._lock_timeout_s = lock_timeout_s
        self._last: object = None
        self._facts: tuple[int, dict[str, JSON]] = (-1, {})
        self._sight: Sight | None = None
        self._meddled = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        for host in self.hosts.values():
            host.close()

    def look_afresh(self) -> None:
        """Another process has been at the files: what was seen of them counts no longer."""
        self._sight = None

    @property
    def struck(self) -> tuple[str, ...]:
        return tuple(self.around.struck)

    @property
    def shown(self) -> tuple[tuple[str, JSON], ...]:
        return tuple(self.around.shown)

    @property
    def meddled(self) -> int:
        return self.files.meddled

    def apply(self, action: Action) -> Result:
        if isinstance(action, Call | Open | ReadEpoch):
            self._sight = None
        if isinstance(action, Call):
            return self._transact(action.disturbances, lambda: self._call(action))
        if isinstance(action, Open):
            return self._transact(action.disturbances, lambda: self._open(action))
        if isinstance(action, ReadEpoch):
            return self._transact((), lambda: impl.read_durable_epoch(self.files.directory))
        self.around.begin(())
        self.around.happen(action)
        return Answered(None)

    def observe(self) -> Observation:
        # Between two transactions no code of the store runs: only we ourselves can have changed the disk.
        if self._sight is None or self._meddled != self.files.meddled:
            self._sight, self._meddled = self._observer.look(), self.files.meddled
        sight = self._sight
        state = sight.fingerprint[0] if sight.fingerprint else None
        if state != self._last:
            if isinstance(state, bytes) and state != self.files.put:
                self.files.published.append(state)
            self._last = state
        self.files.put = None
        if self._facts[0] != self.around.revision:
            ledgers = self.around.ledgers
            self._facts = (self.around.revision, {name: one.to_json() for name, one in ledgers.items()})
        return Observation(
            sight.store,
            sight.problems,
            sight.identity,
            sight.temps,
            self._facts[1],
            tuple(self.around.launched),
            sight.fingerprint,
        )

    def _transact(self, disturbances: tuple[Disturbance, ...], what: Callable[[], object]) -> Result:
        if not self.files.standing:
            return self._result(disturbances, what)
        # Files that aren't files can hang whoever opens or reads them, and must not (C12).
        try:
            with at_most(HUNG_S):
                return self._result(disturbances, what)
        except HungError as error:
            return Crashed(_told(error))

    def _result(self, disturbances: tuple[Disturbance, ...], what: Callable[[], object]) -> Result:
        self.around.begin(disturbances)
        hooked = any(disturbance.moment == "rename" for disturbance in disturbances)
        previous = disk.install(self._at_point) if hooked else None
        try:
            value = what()
        except impl.CoordinatorError as error:
            if error.recovery_action != "operator":
                return Crashed(f"recovery_action is {error.recovery_action!r}: {error}")
            return Refusal(error.code, error.side_effects)
        except LookupError as error:
            if isinstance(error, UnknownHostError):
                raise
            return Crashed(_told(error))
        except Exception as error:  # noqa: BLE001  # whatever a store raises is what we are here to see
            return Crashed(_told(error))
        finally:
            if hooked:
                disk.install(previous)
        plain = value is None or isinstance(value, bool | int | float | str | list | dict)
        return Answered(value if plain else codec.to_json(value))  # type: ignore[arg-type]  # told apart just now

    def _call(self, call: Call) -> object:
        store = self.hosts.get(call.host)
        if store is None:
            raise UnknownHostError(f"no host {call.host!r} was ever opened here")
        arguments = dict(call.arguments)
        if call.operation != "dispatch":
            return store.call(call.operation, arguments, call.context)
        return store.call(call.operation, arguments, call.context, prepare=self._prepare(call))

    def _open(self, action: Open) -> None:
        former = self.hosts.get(action.host)
        if former is not None:
            former.close()
        authority = ArbitratingAuthority if action.arbitration else HostAuthority
        self.hosts[action.host] = impl.open_coordinator(
            self.files.directory,
            initial_max_active_runs=action.initial_max_active_runs,  # type: ignore[arg-type]  # nonsense too
            epoch=action.epoch,  # type: ignore[arg-type]  # nonsense too
            holder_id=action.holder_id,  # type: ignore[arg-type]  # nonsense too
            authority=authority(self.around, action.host),
            clock=self.around.read_clock,
            lock_timeout_s=self._lock_timeout_s,
        )

    def _prepare(self, call: Call) -> Callable[[object], Any]:
        def activation() -> JSON:
            said = self.around.arrive("activation", call.host, call.context)
            self.around.launched.append(str(call.arguments["id"]))
            return copied(said.value) if said else f"launched:{call.arguments['id']}"

        def prepare(_row: object) -> Any:
            said = self.around.arrive("prepare", call.host, call.context)
            return copied(said.value) if said else activation

        return prepare

    def _at_point(self, point: disk.CrashPoint) -> None:
        if point is disk.CrashPoint.STATE_FSYNC_AFTER:
            self.around.arrive("rename", "")

    def _reenter(self, host: str, context: str) -> JSON:
        store = self.hosts.get(host)
        if store is None:
            # The opening that is under way has not handed out its store yet: there is nothing to call.
            raise _refusal("DURABILITY_FAILED")
        value: Mapping[str, Any] = codec.to_json(store.call("snapshot", {}, context))
        return dict(value)

    def _elsewhere(self, event: object) -> None:
        match event:
            case Close(host):
                if host not in self.hosts:
                    raise UnknownHostError(f"no host {host!r} was ever opened here")
                self.hosts[host].close()
            case PutBack(index):
                self.files.put_back(index)
            case LeaveTemp():
                self.files.leave_temp()
            case Damage(kind):
                self.files.damage(kind)
            case Mend(kind):
                self.files.mend(kind)
            case _:
                raise TypeError(f"no event: {event!r}")


class UnknownHostError(LookupError):
    """An action names a host that was never opened: the trace makes no sense, whatever the store does."""


def _refusal(code: str) -> Exception:
    return impl.CoordinatorError(code, "the authority refused")  # type: ignore[arg-type]  # any code may be said


def _told(error: BaseException) -> str:
    """The exception and where it came from, without this machine's paths."""
    frames = traceback.extract_tb(error.__traceback__)
    place = " < ".join(f"{Path(frame.filename).name}:{frame.name}" for frame in reversed(frames[-3:]))
    return f"{type(error).__name__}: {error} ({place})"
