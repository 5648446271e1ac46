"""Targets that misbehave, for tests: `python -m stateful_tests.wire.fakes KIND DIRECTORY`.

Each begins as a proper target, this project's own store, and breaks the protocol or lies about the store at
the moment that its name tells. Not part of any check.
"""

import fcntl
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from impl import disk, lockfile
from stateful_tests.wire.serve import Message, Server
from stateful_tests.wire.target import Command

_RUN: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from stateful_tests.wire.fakes import main; main(sys.argv[2:])"
)


def fake(kind: str, reply_limit_s: float = 20.0) -> Command:
    """The command of one of `KINDS`, from wherever the tests are run."""
    root = str(Path(__file__).resolve().parents[2])
    words = [sys.executable, "-P", "-c", _RUN, root, kind, "{directory}"]
    return Command(shlex.join(words), reply_limit_s)


def _line(message: Message) -> bytes:
    return json.dumps(message).encode("ascii") + b"\n"


class Fake:
    """Answers as `Server` does until a request is a call; then as `KINDS[kind]` says."""

    def __init__(self, kind: str, directory: Path) -> None:
        self.server = Server(directory)
        self.directory = directory
        self.kind = kind

    def answer(self, request: Message) -> bytes:
        if request["do"] == MOMENTS.get(self.kind, "call"):
            return KINDS[self.kind](self, request)
        return _line(self.honest(request))

    def honest(self, request: Message) -> Message:
        return self.server.answer(request)


Kind = Callable[[Fake, Message], bytes]


def _hangs(_fake: Fake, _request: Message) -> bytes:
    while True:
        signal.pause()


def _dies(_fake: Fake, _request: Message) -> bytes:
    print("my last words", file=sys.stderr, flush=True)
    os._exit(7)


def _is_killed(_fake: Fake, _request: Message) -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


def _closes(_fake: Fake, _request: Message) -> bytes:
    os.close(1)
    return _hangs(_fake, _request)


def _floods(_fake: Fake, _request: Message) -> bytes:
    while True:
        os.write(1, b"x" * 65536)


def _floods_errors(fake: Fake, request: Message) -> bytes:
    for _ in range(2_000):
        os.write(2, b"e" * 65536)
    return _line(fake.honest(request))


def _goes_on(fake: Fake, request: Message) -> bytes:
    return _line(fake.honest(request)) * 2


def _skips(fake: Fake, request: Message) -> bytes:
    return _line({**fake.honest(request), "id": request["id"] + 1})


def _babbles(_fake: Fake, _request: Message) -> bytes:
    return b"Store opened.\n"


def _lists(_fake: Fake, _request: Message) -> bytes:
    return b"[1, 2]\n"


def _nests(_fake: Fake, _request: Message) -> bytes:
    return b"[" * 200_000 + b"\n"


def _shapeless(_fake: Fake, request: Message) -> bytes:
    return _line({"id": request["id"], "ok": None, "error": None})


def _half(fake: Fake, request: Message) -> bytes:
    """A reply without its observation."""
    reply = fake.honest(request)
    reply.pop("observation", None)
    return _line(reply)


def _bears(fake: Fake, request: Message) -> bytes:
    """A child in the same group, whose pid stands in the file `child`; then it hangs."""
    child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    place = Path(os.environ["HOLDTRUE_FAKE_CHILD"])
    fresh = place.with_suffix(".new")
    fresh.write_text(f"{os.getpid()} {child.pid}", "ascii")
    fresh.rename(place)
    return _hangs(fake, request)


def _accepts_all(fake: Fake, request: Message) -> bytes:
    """Says that a refusal was an acceptance."""
    reply = fake.honest(request)
    if reply.pop("error", None) is not None:
        reply["ok"] = None
    return _line(reply)


def _forgets(name: str, empty: Any) -> Kind:
    """Never shows what has come to be of that."""

    def answer(fake: Fake, request: Message) -> bytes:
        reply = fake.honest(request)
        if "observation" in reply:
            reply["observation"][name] = empty
        return _line(reply)

    return answer


def _does_nothing(fake: Fake, request: Message) -> bytes:
    """Answers a reservation that it never stored."""
    if request.get("operation") != "reserve":
        return _line(fake.honest(request))
    told = fake.server.answer({"id": request["id"], "do": "observe"})["ok"]
    return _line({"id": request["id"], "ok": {}, "observation": told})


def _refuses(code: str, message: str, effects: str) -> Kind:
    """Does nothing, and says so with this error."""

    def answer(fake: Fake, request: Message) -> bytes:
        error = {"code": code, "message": message, "side_effects": effects}
        told = fake.server.answer({"id": request["id"], "do": "observe"})["ok"]
        return _line({"id": request["id"], "error": error, "observation": told})

    return answer


def _other_codes(fake: Fake, request: Message) -> bytes:
    reply = fake.honest(request)
    if "error" in reply:
        reply["error"]["code"] = f"MY_{reply['error']['code']}"
    return _line(reply)


def _of_the_future(fake: Fake, request: Message) -> bytes:
    reply = fake.honest(request)
    reply["hello"]["protocol"] = 99
    return _line(reply)


def _claims(capability: str, value: Any) -> Kind:
    """Honest but for this."""

    def answer(fake: Fake, request: Message) -> bytes:
        reply = fake.honest(request)
        reply["hello"]["capabilities"][capability] = value
        return _line(reply)

    return answer


def _rebuilds(fake: Fake, request: Message) -> bytes:
    """Opens a store that is there by taking its state away for a while."""
    state, aside = fake.directory / "coordinator.json", fake.directory / "aside"
    if state.exists():
        state.rename(aside)
        signal.sigtimedwait([signal.SIGUSR1], 1.0)
        aside.rename(state)
    return _line(fake.honest(request))


def _unlocked(fake: Fake, request: Message) -> bytes:
    """No lock keeps it apart from other processes."""
    lockfile.try_lock = lambda descriptor: descriptor >= 0
    return _line(fake.honest(request))


def _unlocks(at: disk.CrashPoint, *, again: bool = False) -> Kind:
    """Gives its lock up midway; `again` takes it again at once."""

    def hook(point: disk.CrashPoint) -> None:
        for descriptor in lockfile._lock_descriptors if point is at else ():
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            if again:
                fcntl.flock(descriptor, fcntl.LOCK_EX)

    def begin(fake: Fake, request: Message) -> bytes:
        told = _line(fake.honest(request))
        disk.install(hook)
        return told

    return begin


def _turns_away(fake: Fake, request: Message) -> bytes:
    """Refuses the racers to open the store."""
    if request["host"].startswith("p"):
        return _refuses("DURABILITY_FAILED", "busy", "none")(fake, request)
    return _line(fake.honest(request))


KINDS: Final[Mapping[str, Kind]] = {
    "hangs": _hangs,
    "dies": _dies,
    "is-killed": _is_killed,
    "closes": _closes,
    "floods": _floods,
    "floods-errors": _floods_errors,
    "goes-on": _goes_on,
    "skips": _skips,
    "babbles": _babbles,
    "lists": _lists,
    "nests": _nests,
    "shapeless": _shapeless,
    "half": _half,
    "bears": _bears,
    "accepts-all": _accepts_all,
    "forgets-launches": _forgets("launched", []),
    "forgets-facts": _forgets("facts", {}),
    "does-nothing": _does_nothing,
    "crashes": _refuses("CRASHED", "IndexError: no such row", "unknown"),
    "disowns": _refuses("NO_SUCH_HOST", "who?", "none"),
    "other-codes": _other_codes,
    "of-the-future": _of_the_future,
    "boasts": _claims("telepathy", True),
    "begins-once": _claims("again", False),
    "rebuilds": _rebuilds,
    "unlocked": _unlocked,
    "unlocks-early": _unlocks(disk.CrashPoint.STATE_CREATE_BEFORE),
    "unlocks-late": _unlocks(disk.CrashPoint.STATE_RENAME_BEFORE),
    "unlocks-midway": _unlocks(disk.CrashPoint.STATE_READ_AFTER, again=True),
    "turns-away": _turns_away,
    "alone": _claims("processes", "one"),
}
MOMENTS: Final = {
    "of-the-future": "hello",
    "boasts": "hello",
    "begins-once": "hello",
    "rebuilds": "open",
    "unlocked": "begin",
    "unlocks-early": "begin",
    "unlocks-late": "begin",
    "unlocks-midway": "begin",
    "turns-away": "open",
    "alone": "hello",
}
"""At which request a kind misbehaves, where it is no call."""


def main(arguments: list[str]) -> None:
    kind, directory = arguments
    fake = Fake(kind, Path(directory))
    for line in sys.stdin.buffer:
        request: dict[str, Any] = json.loads(line)
        rest = memoryview(fake.answer(request))
        while rest:
            rest = rest[os.write(1, rest) :]


if __name__ == "__main__":
    main(sys.argv[1:])
