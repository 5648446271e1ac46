"""One request, one reply: the messages of the protocol over a target process.

Each reply is checked against its request: it is one JSON object, has the request's id, and has exactly one of
the parts that a reply can have, of the right shape. What is not so is a `TargetFaultError`, and the process
group has been ended by then. What the store answers is not judged here.

Every message can be listened in on (`listen`), which is how tests hold conversations against the schema.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import frozen

from model.values import JSON
from stateful_tests.wire.capabilities import VERSION, Greeting, greeting_from_json
from stateful_tests.wire.faults import NONSENSE, OUT_OF_ORDER, TargetFaultError
from stateful_tests.wire.process import TargetProcess

UNKNOWN_REQUEST: Final = "UNKNOWN_REQUEST"
NO_SUCH_HOST: Final = "NO_SUCH_HOST"
CRASHED: Final = "CRASHED"

Listener = Callable[[str, dict[str, Any]], None]
"""Called with `request` or `reply`, and the message."""

_ERROR: Final = frozenset({"code", "message", "side_effects"})
_REPLY: Final = frozenset({"id", "ok", "error", "observation", "struck"})
_LONGEST_CODE: Final = 200
DEEPEST: Final = 100
"""Objects and lists that a value of a reply may stand in. Reports tell values by recursion."""


@frozen
class Reply:
    """`error` is `None`, or (code, message, side effects). `struck` are indices of disturbances."""

    ok: JSON
    error: tuple[str, str, str] | None
    observation: Mapping[str, Any] | None
    struck: tuple[int, ...]


class Conversation:
    """With a process that has just been started."""

    def __init__(self, process: TargetProcess, *, listen: Listener | None = None) -> None:
        self.process = process
        self.due = 0.0
        """By when what was asked last has to be answered."""
        self._id = 0
        self._listen = listen

    def greet(self) -> Greeting:
        reply = self._exchange({"do": "hello", "protocol": VERSION})
        if reply.keys() != {"id", "hello"}:
            raise self._nonsense("hello", f"fields {_shown(sorted(reply))} instead of id and hello")
        try:
            return greeting_from_json(reply["hello"])
        except ValueError as error:
            raise self._nonsense("hello", str(error)) from None

    def ask(self, request: dict[str, JSON]) -> Reply:
        """`request` without its id. Raises `TargetFaultError`."""
        self.send(request)
        return self.receive(str(request["do"]))

    def send(self, request: dict[str, JSON]) -> None:
        self._id += 1
        self._sent = {"id": self._id, **request}
        if self._listen is not None:
            self._listen("request", self._sent)
        self.due = self.process.send(_dumps(self._sent).encode("ascii"))

    def receive(self, what: str) -> Reply:
        """The reply to what was sent last, a request of the kind `what`."""
        reply = self._parsed(what, self.process.receive(self.due))
        if not reply.keys() <= _REPLY:
            raise self._nonsense(what, f"unknown field {_shown(sorted(reply.keys() - _REPLY)[0])}")
        if ("ok" in reply) == ("error" in reply):
            raise self._nonsense(what, "exactly one of ok and error is needed")
        observation = reply.get("observation")
        if observation is not None and not isinstance(observation, dict):
            raise self._nonsense(what, f"observation is no object: {_shown(observation)}")
        error = self._error(what, reply["error"]) if "error" in reply else None
        return Reply(reply.get("ok"), error, observation, self._struck(what, reply.get("struck")))

    def _exchange(self, request: dict[str, JSON]) -> dict[str, Any]:
        self.send(request)
        return self._parsed(str(request["do"]), self.process.receive(self.due))

    def _parsed(self, what: str, line: bytes) -> dict[str, Any]:
        try:
            reply = _loads(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise self._nonsense(what, f"no JSON ({error}): {_shown(line)}") from None
        if not isinstance(reply, dict):
            raise self._nonsense(what, f"no JSON object: {_shown(reply)}")
        if line.count(b"[") + line.count(b"{") > DEEPEST and _deeper(reply):
            raise self._nonsense(what, f"values nested in more than {DEEPEST} others: {_shown(line)}")
        if self._listen is not None:
            self._listen("reply", reply)
        if reply.get("id") != self._id or isinstance(reply.get("id"), bool):
            told = f"to {what}, request {self._id}, came a reply to {_shown(reply.get('id'))}"
            raise self._fault(OUT_OF_ORDER, told)
        return reply

    def _error(self, what: str, error: Any) -> tuple[str, str, str]:
        if not isinstance(error, dict) or error.keys() != _ERROR:
            raise self._nonsense(what, f"an error has code, message, side_effects: {_shown(error)}")
        code, message, effects = error["code"], error["message"], error["side_effects"]
        if not isinstance(code, str) or not code or len(code) > _LONGEST_CODE:
            raise self._nonsense(what, f"error.code is no short text: {_shown(code)}")
        if not isinstance(message, str):
            raise self._nonsense(what, f"error.message is no text: {_shown(message)}")
        if effects not in ("none", "unknown"):
            raise self._nonsense(what, f"error.side_effects is neither none nor unknown: {_shown(effects)}")
        return code, message, effects

    def _struck(self, what: str, struck: Any) -> tuple[int, ...]:
        if struck is None:
            return ()
        sent: Any = self._sent.get("disturbances", ())
        if not isinstance(struck, list) or not all(
            type(index) is int and 0 <= index < len(sent) for index in struck
        ):
            raise self._nonsense(
                what, f"struck lists indices of disturbances that were sent: {_shown(struck)}"
            )
        return tuple(struck)

    def malformed(self, what: str, told: str) -> TargetFaultError:
        """For whoever finds, later, that a reply's content has not the right shape."""
        return self._nonsense(what, told)

    def _nonsense(self, what: str, told: str) -> TargetFaultError:
        return self._fault(NONSENSE, f"in reply to {what}, request {self._id}: {told}")

    def _fault(self, kind: str, told: str) -> TargetFaultError:
        self.process.kill()
        return TargetFaultError(kind, told)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object that says everything once: of two fields of one name, each reader takes another."""
    told = dict(pairs)
    if len(told) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {_shown(twice)} stands twice in an object")
    return told


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number in JSON")


def _deeper(value: Any) -> bool:
    """Whether something stands in more than `DEEPEST` objects and lists."""
    level = [value]
    for _ in range(DEEPEST + 1):
        inner = [one for one in level if isinstance(one, dict | list)]
        level = [value for one in inner for value in (one.values() if isinstance(one, dict) else one)]
    return bool(level)


_loads: Final = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number).decode
"""Stricter than `json.loads`: what only Python takes for JSON is none."""

_dumps: Final = json.JSONEncoder(separators=(",", ":")).encode
"""ASCII, lone surrogates escaped."""


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
