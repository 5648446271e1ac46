"""Derives a coordinator store from the specification alone: `python derive_store.py DIRECTORY`.

Guarantees: pure standard library, nothing of `impl` or `model`; its own canonical JSON, hashing and
audit chain, so that what it writes is a second opinion on the format. The same bytes on every run. All row
states, both commands, every optional field, texts beyond ASCII and control characters, left-over TTLs on
released and expired rows, and a command without its request occur.

It doesn't check anything (`independent.py` does), and the directory that it names does not exist: path,
device and inode are made up. The files are written in another key order and with other escapes than either
implementation writes, which the format allows.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

ZERO_HASH = "0" * 64
T0 = 1_790_000_000_000
INSTANCE = "5f0c52a4-6f0e-4a53-9a3e-0d6f1f5f7a01"

SHORT_ESCAPES = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}


def canonical_text(text: str) -> str:
    """One string as RFC 8785 writes it: only what must be escaped is."""
    out = []
    for char in text:
        code = ord(char)
        if code in SHORT_ESCAPES:
            out.append(SHORT_ESCAPES[code])
        elif code < 0x20:
            out.append(f"\\u{code:04x}")
        else:
            out.append(char)
    return '"' + "".join(out) + '"'


def canonical(value: Any) -> str:
    """RFC 8785 text of JSON made of objects, lists, texts, booleans, null and integers."""
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):  # only states broken on purpose hold one; this is how ECMAScript prints it
        return str(int(value)) if value.is_integer() and abs(value) < 1e21 else repr(value)
    if isinstance(value, str):
        return canonical_text(value)
    if isinstance(value, list):
        return "[" + ",".join(canonical(item) for item in value) + "]"
    keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
    return "{" + ",".join(canonical_text(key) + ":" + canonical(value[key]) for key in keys) + "}"


def digest(value: Any) -> str:
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()


def without(mapping: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in mapping.items() if name != key}


def business(state: dict[str, Any]) -> str:
    return digest({key: state[key] for key in ("fencingEpoch", "maxActiveRuns", "reservations", "commands")})


def uuid(number: int, group: int = 0) -> str:
    """A version 4 UUID that a reader can recognise: `group` in front, `number` at the end."""
    return f"{group:08x}-0000-4000-8000-{number:012x}"


class History:
    """A store's state as it grows, commit by commit. Change `state`, then call `commit`."""

    def __init__(
        self, path: str, dev: int, ino: int, *, epoch: int = 1, maximum: int = 4, at: int = T0
    ) -> None:
        self.state: dict[str, Any] = {
            "version": 1,
            "fencingEpoch": epoch,
            "commitSeq": 0,
            "lastWallTime": 0,
            "maxActiveRuns": maximum,
            "directoryIdentity": {"canonicalPath": path, "dev": dev, "ino": ino},
            "instanceId": INSTANCE,
            "reservations": {},
            "commands": {},
            "audit": [],
            "stateHash": "",
        }
        self.commit("initialize", "coordinator-bootstrap", at)

    @property
    def identity(self) -> dict[str, Any]:
        place = self.state["directoryIdentity"]
        return {"version": 1, **place, "instanceId": self.state["instanceId"]}

    def commit(self, action: str, principal: str, at: int) -> None:
        state = self.state
        state["lastWallTime"] = at
        state["commitSeq"] += 1
        entry = {
            "commitSeq": state["commitSeq"],
            "epoch": state["fencingEpoch"],
            "recordedAt": at,
            "action": action,
            "principal": principal,
            "previousHash": state["audit"][-1]["hash"] if state["audit"] else ZERO_HASH,
            "stateDigest": business(state),
        }
        entry["hash"] = digest(entry)
        state["audit"].append(entry)
        state["stateHash"] = digest(without(state, "stateHash"))

    def row(self, number: int, state: str, at: int, **more: Any) -> dict[str, Any]:
        """Adds row `number`; names in `more` go to the reservation where they belong there."""
        inner = ("projectAdmitCommitSeq", "attemptId", "providerJobHandle", "reservedExpiresAt", "renewedAt")
        row: dict[str, Any] = {
            "reservation": {
                "reservationId": uuid(number),
                "state": state,
                "slots": 1,
                "projectId": uuid(number, 1),
                "projectControlDomainId": uuid(number, 2),
                "runId": uuid(number, 3),
                "coordinatorEpoch": self.state["fencingEpoch"],
            },
            "ownerId": "o-alice",
            "principal": "p-alice",
            "updatedAt": at,
            "concurrencyGuarantee": "enforced",
        }
        for name, value in more.items():
            (row["reservation"] if name in inner else row)[name] = value
        self.state["reservations"][uuid(number)] = row
        return row

    def command(
        self, number: int, request: dict[str, Any], result: Any, principal: str = "p-root"
    ) -> dict[str, Any]:
        """Adds a command that takes effect with the next commit."""
        sequence = self.state["commitSeq"] + 1
        record = {
            "commandId": uuid(number, 9),
            "kind": request["kind"],
            "requestHash": digest(request),
            "callerPrincipal": principal,
            "firstCommitSeq": sequence,
            "lastCommitSeq": sequence,
            "status": "completed",
        }
        command = {"request": request, "record": record, "result": result}
        self.state["commands"][uuid(number, 9)] = command
        return command


REASON = 'lost: "quoted" \\ / \b\f\n\r\t\x00\x01\x1b\x1f\x7f '
REASON += "\u2028\u2029 \ufeff é e\u0301 \u20ac \U0001f600 \uffff \U0010ffff"


def whole_history(path: str = "/srv/holdtrue/derived", dev: int = 65_024, ino: int = 777) -> History:
    """One store in which every form that a row or a command can have stands once at least."""
    made = History(path, dev, ino, maximum=6)
    state = made.state

    made.row(1, "reserved", T0 + 1_000, reservedExpiresAt=T0 + 86_400_000)
    made.commit("reserve", "p-alice", T0 + 1_000)

    bob = {"ownerId": "o-bób", "principal": "p-bob \U0001f600"}
    made.row(
        2,
        "committed",
        T0 + 2_000,
        projectAdmitCommitSeq=1,
        attemptId=uuid(2, 4),
        providerJobHandle="job \u2028 ü \U0001f680",
    )
    state["reservations"][uuid(2)].update(bob, admitRunVersion=0)
    state["reservations"][uuid(2)]["reservation"]["renewedAt"] = T0 + 2_000
    made.commit("commit", "p-bob \U0001f600", T0 + 2_000)

    made.row(3, "orphan-suspect", T0 + 3_000, projectAdmitCommitSeq=9_007_199_254_740_991, admitRunVersion=3)
    made.commit("markOrphanSuspect", "p-alice", T0 + 3_000)

    residue = {"reservedExpiresAt": T0 + 500, "projectAdmitCommitSeq": 4, "admitRunVersion": 1}
    made.row(4, "released", T0 + 4_000, releaseKind="normal", releaseProofId="proof-4 \x01 ß", **residue)
    made.commit("normalRelease", "p-alice", T0 + 4_000)

    made.row(5, "expired", T0 + 5_000, reservedExpiresAt=T0 + 4_500)
    made.row(6, "expired", T0 + 5_000, renewedAt=T0 + 100)
    made.commit("snapshot", "p-alice", T0 + 5_000)

    freed = made.row(
        7, "released", T0 + 6_000, releaseKind="force", concurrencyGuarantee="operator-overridden"
    )
    request = {
        "kind": "forceRelease",
        "reservationId": uuid(7),
        "riskAcknowledgement": True,
        "reason": REASON,
    }
    made.command(1, request, json.loads(json.dumps(freed)))
    made.commit("forceRelease", "p-root", T0 + 6_000)

    state["fencingEpoch"] = 2
    state["maxActiveRuns"] = 5
    made.command(2, {"kind": "setMaxActiveRuns", "maxActiveRuns": 5}, 5)
    made.commit("setMaxActiveRuns", "p-root", T0 + 7_000)

    made.command(3, {"kind": "setMaxActiveRuns", "maxActiveRuns": 5}, 5)
    del state["commands"][uuid(3, 9)]["request"]  # as old stores have it
    made.commit("setMaxActiveRuns", "p-root", T0 + 7_000)
    return made


def backwards(value: Any) -> Any:
    """The same JSON with the fields of each object in reverse; rows and commands keep their order."""
    if isinstance(value, dict):
        keep = any(len(key) == 36 for key in value)
        names = list(value) if keep else list(reversed(value))
        return {name: backwards(value[name]) for name in names}
    return [backwards(item) for item in value] if isinstance(value, list) else value


def main(target: Path) -> None:
    made = whole_history()
    for name, value in (("coordinator.json", made.state), ("coordinator.identity.json", made.identity)):
        text = json.dumps(backwards(value), ensure_ascii=True, separators=(",", ":"))
        (target / name).write_bytes(text.encode("ascii") + b"\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
