"""A store in another process as a `Target`: actions go over the wire, results and observations come back.

`Session` holds the command and, where the target can begin again, one process for many stores. A breakdown of
the conversation is a result (`Broke`), never an exception, so that the comparison can say at which action it
came; the session then starts a new process for the next store.

With the capability `files` this process reads the coordinator's files itself. Otherwise a target's word for
its durable state is all there is; the kills are what puts that word to the test.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from attrs import frozen

import model
from model.actions import Action, Call, Disturbance, Happens, Open
from model.forms import action_to_json
from model.values import JSON, Identity, Lease, Raw, World
from stateful_tests.compare import fact_to_json
from stateful_tests.files import StoreFiles
from stateful_tests.observe import Observation, Observer
from stateful_tests.target import Answered, Crashed, Refusal, Result
from stateful_tests.wire.capabilities import Greeting
from stateful_tests.wire.conversation import CRASHED, Conversation, Listener, Reply
from stateful_tests.wire.faults import Broke, TargetFaultError
from stateful_tests.wire.process import TargetProcess, argv_of

REPLY_LIMIT_S: Final = 10.0
_STORE: Final = frozenset(
    {"fencingEpoch", "commitSeq", "lastWallTime", "maxActiveRuns", "reservations", "commands"}
)


@frozen
class Command:
    """How a target is started. `text` is a command line with `{directory}` in it, or without."""

    text: str
    reply_limit_s: float = REPLY_LIMIT_S

    def start(self, directory: Path, *, wrapper: tuple[str, ...] = ()) -> TargetProcess:
        """Raises `TargetFaultError`, and `ValueError` for a text that is no command line."""
        return TargetProcess(argv_of(self.text, directory), reply_limit_s=self.reply_limit_s, wrapper=wrapper)


def surroundings_of(world: World) -> dict[str, JSON]:
    """The surroundings of `world`, as the protocol has them."""
    return {
        "clock": world.clock,
        "lease": _raw(world.lease),
        "projectSeq": world.project_seq,
        "launched": list(world.launched),
        "identities": {context: _raw(who) for context, who in world.people},
        "facts": {fact.reservation_id: fact_to_json(fact) for fact in world.facts},
    }


def _raw(value: Lease | Identity | Raw | None) -> JSON:
    if isinstance(value, Lease):
        return {
            "holderId": value.holder_id,
            "fencingEpoch": value.fencing_epoch,
            "endpoint": value.endpoint,
            "expiresAt": value.expires_at,
        }
    if isinstance(value, Identity):
        return {"principal": value.principal, "ownerId": value.owner_id, "operator": value.operator}
    form: JSON = json.loads(value.text) if isinstance(value, Raw) else None
    return form


class WireTarget:
    """The store in `directory`, in a process that has been greeted. `around` is what `begin` tells."""

    def __init__(
        self,
        talk: Conversation,
        greeting: Greeting,
        directory: Path,
        *,
        around: Mapping[str, JSON] | None = None,
        keep: bool = False,
    ) -> None:
        self.talk = talk
        self.greeting = greeting
        self.broke: Broke | None = None
        self._keep = keep
        self._struck: tuple[str, ...] = ()
        self._seen: Observation | None = None
        files = greeting.capabilities.files is not None
        self._observer = Observer(StoreFiles(directory)) if files else None
        told = surroundings_of(model.initial_world()) if around is None else dict(around)
        self._begin: dict[str, JSON] = {"do": "begin", "directory": str(directory), "surroundings": told}
        reply = self._ask(self._begin)
        if isinstance(reply, Reply) and reply.error is not None:
            self._break(talk.malformed("begin", f"it was refused with {reply.error[0]}: {reply.error[1]}"))

    @property
    def struck(self) -> tuple[str, ...]:
        return self._struck

    @property
    def shown(self) -> None:
        """Its authority is its own business."""

    @property
    def meddled(self) -> int:
        return 0

    def close(self) -> None:
        """Ends the process, unless the session keeps it."""
        if not self._keep:
            self.talk.process.end()

    def apply(self, action: Action) -> Result:
        disturbances = action.disturbances if isinstance(action, Open | Call) else ()
        reply = self._ask({**action_to_json(action), "observe": True})
        if isinstance(reply, Broke):
            self._struck = ()
            return reply
        self._struck = tuple(key for index in reply.struck for key in _keys(disturbances[index]))
        if reply.observation is None:
            return self._break(self.talk.malformed(str(action_to_json(action)["do"]), "no observation"))
        self._seen = self._observation(reply.observation)
        return self.broke or result_of(reply)

    def observe(self) -> Observation:
        """After a breakdown, what was seen last."""
        if self._seen is None:
            reply = self._ask({"do": "observe"})
            if isinstance(reply, Reply):
                told = reply.ok
                if reply.error is not None:
                    code, message, _ = reply.error
                    first = message.partition("\n")[0][:300]
                    self._break(self.talk.malformed("observe", f"it answered {code}: {first}"))
                elif not isinstance(told, dict):
                    self._break(self.talk.malformed("observe", f"no observation: {told!r}"[:300]))
                else:
                    self._seen = self._observation(told)
        return self._seen or _NOTHING

    def arm(self, point: str, nth: int) -> None:
        """Has the target kill itself there. Raises `TargetFaultError`."""
        reply = self.talk.ask({"do": "armCrash", "point": point, "nth": nth})
        if reply.error is not None:
            raise self.talk.malformed("armCrash", f"{point} was refused with {reply.error[0]}")

    def forget_sight(self) -> None:
        """What was seen counts no longer: the next `observe` asks."""
        self._seen = None

    def _ask(self, request: dict[str, JSON]) -> Reply | Broke:
        if self.broke is not None:
            return self.broke
        try:
            return self.talk.ask(request)
        except TargetFaultError as fault:
            return self._break(fault)

    def _break(self, fault: TargetFaultError) -> Broke:
        self.broke = Broke(fault.told, fault.kind)
        return self.broke

    def _observation(self, told: Mapping[str, Any]) -> Observation:
        """Where it has not the right shape the conversation is broken, and what was seen last stands."""
        wrong = _misshapen(told, with_store=self._observer is None, audit=self.greeting.capabilities.audit)
        if wrong is not None:
            self._break(self.talk.malformed("observe", wrong))
            return self._seen or _NOTHING
        facts, launched = told["facts"], tuple(told["launched"])
        if self._observer is None:
            store = told["store"]
            return Observation(store, (), store is not None, 0, facts, launched, ())
        sight = self._observer.look()
        return Observation(
            sight.store, sight.problems, sight.identity, sight.temps, facts, launched, sight.fingerprint
        )


_NOTHING: Final = Observation(None, (), False, 0, {}, (), ())


class Session:
    """Starts targets of one command; `listen` hears every message. Use `target` as a factory."""

    def __init__(self, command: Command, *, listen: Listener | None = None) -> None:
        self.command = command
        self._listen = listen
        self._idle: tuple[Conversation, Greeting] | None = None

    def greet(self, directory: Path, *, wrapper: tuple[str, ...] = ()) -> tuple[Conversation, Greeting]:
        """A fresh process that has said hello. Raises `TargetFaultError`."""
        talk = Conversation(self.command.start(directory, wrapper=wrapper), listen=self._listen)
        return talk, talk.greet()

    def target(self, directory: Path) -> WireTarget:
        """A target for a store in `directory`, in the process of the last one where that can be."""
        talk, greeting = self._idle or self.greet(directory)
        if not talk.process.running:
            talk, greeting = self.greet(directory)
        again = greeting.capabilities.again
        self._idle = (talk, greeting) if again else None
        return WireTarget(talk, greeting, directory, keep=again)

    def close(self) -> None:
        if self._idle is not None:
            self._idle[0].process.end()
            self._idle = None


def result_of(reply: Reply) -> Result:
    """What came of a request, as a reply tells it."""
    if reply.error is None:
        return Answered(reply.ok)
    code, message, effects = reply.error
    if code == CRASHED:
        return Crashed(message[:2000])
    return Refusal(code, effects)


def _keys(disturbance: Disturbance) -> tuple[str, ...]:
    """What struck, as `coverage` counts it."""
    effect = disturbance.effect
    key = f"moment/{disturbance.moment}/{type(effect).__name__.lower()}"
    if not isinstance(effect, Happens):
        return (key,)
    name = type(effect.event).__name__
    return (key, f"meanwhile/{name[0].lower()}{name[1:]}")


def _misshapen(told: Mapping[str, Any], *, with_store: bool, audit: bool) -> str | None:
    """What is wrong with an observation's shape, if anything."""
    expected = {"facts", "launched", *({"store"} if with_store else ())}
    if told.keys() != expected:
        return f"observation has fields {sorted(told)}, not {sorted(expected)}"
    if not isinstance(told["facts"], dict) or not isinstance(told["launched"], list):
        return "observation: facts is an object, launched a list"
    store = told.get("store")
    if store is None:
        return None
    known = _STORE | ({"audit"} if audit else set())
    if not isinstance(store, dict) or store.keys() != known:
        shown = sorted(store) if isinstance(store, dict) else store
        return f"observation.store: null or an object with {sorted(known)} is needed, not {shown!r}"[:400]
    if not isinstance(store["reservations"], list) or not isinstance(store["commands"], dict):
        return "observation.store: reservations is a list, commands an object"
    return None
