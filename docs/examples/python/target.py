"""The adapter: docs/protocol.md on one side, the store on the other.

    holdtrue check --target 'python3 docs/examples/python/target.py {directory}' \
                   --policy docs/examples/python/policy.toml

`--mended` mends all faults, `--without a,b` some, `--only a` all others. Standard output belongs to the
protocol; say other things on standard error.
"""

import json
import sys
import traceback
from pathlib import Path
from typing import Any

from database import Database
from errors import StoreError
from store import Store
from surroundings import Authority, Surroundings
from values import FAULTS

Message = dict[str, Any]
CAPABILITIES = {
    "moments": ["read_lease", "authorize", "read_admission", "abandon_admission_if_absent", "read_release"],
    "effects": ["raises", "answers", "reenters", "happens"],
    "hosts": "one",
    "exactNumbers": True,
    "surrogates": True,
    "again": True,
}
HELLO = {"protocol": 1, "name": "naive-python", "version": "1", "capabilities": CAPABILITIES}


class Target:
    def __init__(self, faults: set[str]) -> None:
        self.faults = faults
        self.hosts: dict[str, Store] = {}
        self.db: Database | None = None
        self.around: Surroundings | None = None

    def answer(self, request: Message) -> Message:
        reply: Message = {"id": request["id"]}
        if request["do"] == "hello":
            return {**reply, "hello": HELLO}
        if self.around is not None:
            self.around.begin(request.get("disturbances", []))
        try:
            reply["ok"] = self._done(request)
        except StoreError as error:
            told = {"code": error.code, "message": str(error), "side_effects": error.side_effects}
            reply["error"] = told
        except Exception:  # noqa: BLE001  # whatever comes out of a store is told
            told = {"code": "CRASHED", "message": traceback.format_exc(), "side_effects": "unknown"}
            reply["error"] = told
        if request.get("disturbances") and self.around is not None:
            reply["struck"] = self.around.struck
        if request.get("observe"):
            reply["observation"] = self._observation()
        return reply

    def _done(self, request: Message) -> Any:
        match request["do"]:
            case "begin":
                return self._begin(request)
            case "observe":
                return self._observation()
            case "open":
                return self._open(request)
            case "call":
                host = self._host(request["host"])
                return host.call(request["operation"], request.get("arguments", {}), request["context"])
        if self.around is None or not self.around.happen(request):
            raise StoreError("UNKNOWN_REQUEST", f"there is no request {request['do']}")
        return None

    def _begin(self, request: Message) -> None:
        if self.db is not None:
            self.db.close()
        self.hosts, self.db = {}, Database(Path(request["directory"]))
        self.around = Surroundings(
            request["surroundings"],
            refusal=lambda code: StoreError(code, "the authority refused"),
            reenter=lambda host, context: self._host(host).call("snapshot", {}, context),
            close=self._close,
        )

    def _open(self, request: Message) -> None:
        name, around = request["host"], self.around
        assert around is not None
        assert self.db is not None
        if name in self.hosts:
            self._close(name)
        self.hosts[name] = Store(
            self.db,
            Authority(around, name, arbitration=request.get("arbitration", True)),
            lambda: around.clock,
            self.faults,
            holder=request["holderId"],
            epoch=request["epoch"],
            maximum=request["initialMaxActiveRuns"],
        )

    def _host(self, name: str) -> Store:
        if name not in self.hosts:
            raise StoreError("NO_SUCH_HOST", f"no host {name} was ever opened here")
        return self.hosts[name]

    def _close(self, name: str) -> None:
        self._host(name).is_open = False

    def _observation(self) -> Message:
        assert self.around is not None
        assert self.db is not None
        store: Message | None = None
        if self.db.exists():
            names = ("fencingEpoch", "commitSeq", "lastWallTime", "maxActiveRuns")
            store = {name: self.db.number(name) for name in names}
            store |= {"reservations": self.db.rows(), "commands": self.db.commands()}
        return {"store": store, "facts": self.around.facts, "launched": self.around.launched}


def chosen(options: list[str]) -> set[str]:
    """The faults that are to be there."""
    named = set(options[1].split(",")) if len(options) > 1 else set()
    if unknown := named - set(FAULTS):
        raise SystemExit(f"no faults: {sorted(unknown)}; there are {', '.join(FAULTS)}")
    match options[:1]:
        case ["--mended"]:
            return set()
        case ["--only"]:
            return named
    return set(FAULTS) - named


def main() -> None:
    target = Target(chosen(sys.argv[2:]))
    for line in sys.stdin:
        sys.stdout.write(json.dumps(target.answer(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
