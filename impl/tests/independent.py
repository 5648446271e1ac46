"""Reads, moves and judges a store on disk without `impl`: the second opinion of these tests.

Guarantees: everything here stands on `derive_store` (own canonical JSON, own hashing) and the standard
library. `faults` tells each rule of the format and of S1-S10 that a store breaks, and an empty list means
that the original implementation's validation would accept the files too.

It is no reader for production: it knows nothing of file modes, locks or races.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from impl.tests.derive_store import ZERO_HASH, business, digest, without

STATE = "coordinator.json"
IDENTITY = "coordinator.identity.json"
LOCK = "writer.lock"
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
SHA256 = re.compile(r"[0-9a-f]{64}\Z")
GREATEST = 2**53 - 1
HOLDING = ("reserved", "committed", "orphan-suspect")
IDS = ("reservationId", "projectId", "projectControlDomainId", "runId", "attemptId")
ADMITTED = ("committed", "orphan-suspect")

Check = Callable[[Any], bool]


def _integer(least: int) -> Check:
    return lambda value: type(value) is int and least <= value <= GREATEST


def _one_of(*values: Any) -> Check:
    return lambda value: any(type(value) is type(each) and value == each for each in values)


def _text(value: Any) -> bool:
    return type(value) is str and value != "" and not re.search("[\ud800-\udfff]", value)


def _matches(pattern: re.Pattern[str]) -> Check:
    return lambda value: type(value) is str and pattern.match(value) is not None


_uuid, _hash = _matches(UUID), _matches(SHA256)


def _list(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _map(check: Check) -> Check:
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


def _either(*checks: Check) -> Check:
    return lambda value: any(check(value) for check in checks)


def _object(**fields: Check) -> Check:
    """A closed object; a field whose name ends in `_` may be missing."""
    known = {name.rstrip("_"): check for name, check in fields.items()}
    needed = {name for name in fields if not name.endswith("_")}
    return lambda value: (
        isinstance(value, dict)
        and needed <= set(value) <= set(known)
        and all(known[name](item) for name, item in value.items())
    )


_place = {"canonicalPath": _text, "dev": _integer(0), "ino": _integer(0)}
_row = _object(
    reservation=_object(
        reservationId=_text,
        state=_one_of(*HOLDING, "released", "expired"),
        slots=_one_of(1),
        projectId=_text,
        projectControlDomainId=_text,
        runId=_text,
        projectAdmitCommitSeq_=_integer(1),
        attemptId_=_text,
        providerJobHandle_=_text,
        coordinatorEpoch=_integer(0),
        reservedExpiresAt_=_integer(0),
        renewedAt_=_integer(0),
    ),
    ownerId=_text,
    principal=_text,
    updatedAt=_integer(0),
    admitRunVersion_=_integer(0),
    releaseKind_=_one_of("normal", "force"),
    releaseProofId_=_text,
    concurrencyGuarantee=_one_of("enforced", "operator-overridden"),
)
_request = _either(
    _object(kind=_one_of("setMaxActiveRuns"), maxActiveRuns=_integer(1)),
    _object(
        kind=_one_of("forceRelease"), reservationId=_text, riskAcknowledgement=_one_of(True), reason=_text
    ),
)
_command = _object(
    request_=_request,
    record=_object(
        commandId=_text,
        kind=_one_of("setMaxActiveRuns", "forceRelease"),
        requestHash=_hash,
        callerPrincipal=_text,
        firstCommitSeq=_integer(1),
        lastCommitSeq=_integer(1),
        status=_text,
    ),
    result=_either(_row, _integer(1)),
)
_entry = _object(
    commitSeq=_integer(0),
    epoch=_integer(0),
    recordedAt=_integer(0),
    action=_text,
    principal=_text,
    previousHash=_hash,
    stateDigest=_hash,
    hash=_hash,
)
_state = _object(
    version=_one_of(1),
    fencingEpoch=_integer(0),
    commitSeq=_integer(1),
    lastWallTime=_integer(0),
    directoryIdentity=_object(**_place),
    instanceId=_uuid,
    maxActiveRuns=_integer(1),
    reservations=_map(_row),
    commands=_map(_command),
    audit=_list(_entry),
    stateHash=_hash,
)
_identity = _object(version=_one_of(1), **_place, instanceId=_uuid)


class DuplicateKeyError(ValueError):
    """An object of the text names a key twice."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise DuplicateKeyError(str([name for name, _ in pairs]))
    return made


def parse(content: bytes) -> Any:
    """The JSON of a store's file; ValueError (or RecursionError) if it isn't one text and one newline."""
    text = content.decode("utf-8")
    if not text.endswith("\n") or text.endswith(("\n\n", "\r\n")):
        raise ValueError("not exactly one final newline")
    return json.loads(text, object_pairs_hook=_unique)


def load(path: Path) -> Any:
    return parse(path.read_bytes())


def dump(value: Any, *, ascii_only: bool = False) -> bytes:
    return json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":")).encode("utf-8") + b"\n"


def _audit_faults(state: Any) -> Iterator[str]:
    previous, time = ZERO_HASH, 0
    for number, entry in enumerate(state["audit"], 1):
        good = entry["commitSeq"] == number and entry["previousHash"] == previous
        good = good and entry["recordedAt"] >= time and entry["epoch"] <= state["fencingEpoch"]
        if not good or entry["hash"] != digest(without(entry, "hash")):
            yield f"S3: audit entry {number}"
        previous, time = entry["hash"], entry["recordedAt"]
    if time > state["lastWallTime"] or state["audit"][-1]["stateDigest"] != business(state):
        yield "S4"


def _row_faults(state: Any) -> Iterator[str]:
    taken = set()
    for key, row in state["reservations"].items():
        inner = row["reservation"]
        late = row["updatedAt"] > state["lastWallTime"] or inner["coordinatorEpoch"] > state["fencingEpoch"]
        ids = [inner[name] for name in IDS if name in inner]
        if key != inner["reservationId"] or not all(map(_uuid, ids)) or late:
            yield f"S5: row {key}"
        admitted, timed = "projectAdmitCommitSeq" in inner, "reservedExpiresAt" in inner
        if inner["state"] in ADMITTED and (not admitted or timed):
            yield f"S6: row {key}"
        if inner["state"] == "reserved" and (admitted or not timed):
            yield f"S7: row {key}"
        binding = (inner["projectId"], inner["projectControlDomainId"], inner["runId"])
        if inner["state"] in ADMITTED:
            if binding in taken:
                yield f"S8: row {key}"
            taken.add(binding)


def _command_faults(state: Any) -> Iterator[str]:
    for key, command in state["commands"].items():
        record, request = command["record"], command.get("request")
        commits = record["firstCommitSeq"] == record["lastCommitSeq"] <= state["commitSeq"]
        if key != record["commandId"] or not _uuid(key) or not commits or record["status"] != "completed":
            yield f"S9: command {key}"
        result = command["result"]
        named = result["reservation"] if isinstance(result, dict) else {}
        if not all(_uuid(some[name]) for some in (named, request or {}) for name in IDS if name in some):
            yield f"S9: ids in {key}"
        if request and (request["kind"] != record["kind"] or digest(request) != record["requestHash"]):
            yield f"S9: request of {key}"


def faults(state: Any) -> list[str]:
    """What a parsed state breaks; empty if nothing."""
    if not _state(state):
        return ["S1"]
    found = []
    if digest(without(state, "stateHash")) != state["stateHash"] or len(state["audit"]) != state["commitSeq"]:
        found.append("S2")
    if state["audit"]:
        found += [*_audit_faults(state), *_row_faults(state), *_command_faults(state)]
    held = sum(row["reservation"]["state"] in HOLDING for row in state["reservations"].values())
    return [*found, "S10"] if held > state["maxActiveRuns"] else found


def store_faults(directory: Path) -> list[str]:
    """As `faults`, for the two files in a directory and what they say of it."""
    state, identity = load(directory / STATE), load(directory / IDENTITY)
    if not _identity(identity):
        return ["identity"]
    stat = directory.stat()
    place = {"canonicalPath": str(directory.resolve()), "dev": stat.st_dev, "ino": stat.st_ino}
    found = faults(state)
    if identity != {"version": 1, **place, "instanceId": state["instanceId"]}:
        found.append("identity: names another directory or instance")
    return found if state["directoryIdentity"] == place else [*found, "state: names another directory"]


def write_private(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)


def rehome(source: Path, directory: Path) -> None:
    """Copies the store in `source` into the existing `directory`, rewriting nothing but the directory's
    identity and `stateHash`."""
    directory.chmod(0o700)
    stat = directory.stat()
    place = {"canonicalPath": str(directory.resolve()), "dev": stat.st_dev, "ino": stat.st_ino}
    original = (source / STATE).read_bytes()
    state, identity = parse(original), load(source / IDENTITY)
    state["directoryIdentity"].update(place)
    state["stateHash"] = digest(without(state, "stateHash"))
    identity.update(place)
    write_private(directory / STATE, dump(state, ascii_only=original.isascii()))
    write_private(directory / IDENTITY, dump(identity))
