"""Builds states that break exactly what a test wants broken, with every other checksum right.

Guarantees: `example` is a valid store small enough to be attacked at each of its bytes; `seal` recomputes
all hashes of a state but the one at `keep`, however mangled the state is; `Readers` shows one content to
everything that reads a store (an open store, a fresh opening, `read_durable_epoch`, `audit_directory`) and
collects what each said.
"""

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import impl
from impl.tests.derive_store import T0, ZERO_HASH, History, business, digest, uuid, without
from impl.tests.independent import dump
from impl.tests.workbench import EPOCH, Bench, photograph, refusal

Path = tuple[str | int, ...]


def example(bench: Bench) -> History:
    """A valid store: a reserved row, a committed one with all its fields, one command, three commits."""
    made = bench.history(maximum=3, epoch=EPOCH)
    made.row(1, "reserved", T0 + 1_000, reservedExpiresAt=T0 + 86_400_000)
    more = {"attemptId": uuid(2, 4), "providerJobHandle": "job \x1b", "renewedAt": T0, "admitRunVersion": 0}
    made.row(2, "committed", T0 + 1_000, projectAdmitCommitSeq=7, **more)
    made.commit("commit", "p-alice", T0 + 1_000)
    row = made.row(3, "released", T0 + 2_000, releaseKind="force", concurrencyGuarantee="operator-overridden")
    request = {
        "kind": "forceRelease",
        "reservationId": uuid(3),
        "riskAcknowledgement": True,
        "reason": "lost",
    }
    made.command(1, request, copy.deepcopy(row))
    made.commit("forceRelease", "p-root", T0 + 2_000)
    return made


def grown(history: History) -> dict[str, Any]:
    """The same store one commit later, as another host would have left it: what an open store accepts."""
    later = copy.deepcopy(history)
    later.command(2, {"kind": "setMaxActiveRuns", "maxActiveRuns": 3}, 3)
    later.row(4, "released", T0, releaseKind="normal", releaseProofId="proof", projectAdmitCommitSeq=1)
    later.commit("setMaxActiveRuns", "p-root", T0 + 3_000)
    return later.state


def paths(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every node of a JSON value with the way to it, the root first."""
    yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths(item, (*path, key))


def telling(state: Any) -> Iterator[tuple[Path, Any]]:
    """The nodes of a state, but of the audit only its first and last entry: the others are of one form."""
    middle = range(1, len(state["audit"]) - 1)
    return (node for node in paths(state) if node[0][:1] != ("audit",) or (*node[0], 0, 0)[1] not in middle)


def at(value: Any, path: Sequence[str | int]) -> Any:
    for key in path:
        value = value[key]
    return value


def changed(state: Any, path: Path, new: Any) -> Any:
    """A copy with another value at `path`, sealed again around it."""
    made = copy.deepcopy(state)
    at(made, path[:-1])[path[-1]] = new
    return seal(made, path)


def lacking(state: Any, path: Path) -> Any:
    """A copy without the key at `path`, sealed again around the gap."""
    made = copy.deepcopy(state)
    del at(made, path[:-1])[path[-1]]
    return seal(made, path)


def _put(holder: Any, path: Path, keep: Path, value: str) -> None:
    if isinstance(holder, dict) and path != keep:
        holder[path[-1]] = value


def _digest(value: Any) -> str:
    return digest(value) if value is not None else ZERO_HASH


def seal(state: Any, keep: Path = ()) -> Any:
    """Recomputes request hashes, the last state digest, the chain and the state's hash, in place."""
    if not isinstance(state, dict):
        return state
    commands = state.get("commands")
    for key, command in commands.items() if isinstance(commands, dict) else ():
        if isinstance(command, dict) and isinstance(command.get("request"), dict):
            path: Path = ("commands", key, "record", "requestHash")
            _put(command.get("record"), path, keep, digest(command["request"]))
    audit = state.get("audit")
    previous, entries = ZERO_HASH, audit if isinstance(audit, list) else []
    for number, entry in enumerate(entries):
        if number == len(entries) - 1 and {"fencingEpoch", "maxActiveRuns", "reservations"} <= set(state):
            _put(entry, ("audit", number, "stateDigest"), keep, business({"commands": None, **state}))
        _put(entry, ("audit", number, "previousHash"), keep, previous)
        if isinstance(entry, dict):
            _put(entry, ("audit", number, "hash"), keep, digest(without(entry, "hash")))
            previous = entry.get("hash", ZERO_HASH)
    _put(state, ("stateHash",), keep, digest(without(state, "stateHash")))
    return state


def in_own_form(value: Any) -> Any:
    """The same JSON with the fields of each object sorted, as `impl` writes it; rows keep their order.

    A reader that knows the file's beginning may spare itself work; attacks must go that way too.
    """
    if isinstance(value, dict):
        ids = all(len(key) == 36 for key in value)
        return {key: in_own_form(value[key]) for key in (value if ids else sorted(value))}
    return [in_own_form(item) for item in value] if isinstance(value, list) else value


class Readers:
    """A store opened on `example`, and everything else that reads one."""

    def __init__(self, bench: Bench, *, own_form: bool = True) -> None:
        self.bench = bench
        self.own_form = own_form
        history = example(bench)
        bench.put(history)
        self.good = self.dump(history.state)
        bench.state.write_bytes(self.good)
        self.store = bench.open()
        self.grown = grown(history)
        self.count = 0

    def dump(self, state: Any) -> bytes:
        return dump(in_own_form(state) if self.own_form else state)

    def refused(self, content: bytes, *codes: str, fresh: bool = True) -> None:
        """All readers refuse the state `content` with one of `codes`, and nobody writes.

        Without `fresh` only the open store and the epoch's reader look: the other two go through the same
        code, and an audit's full account of what is wrong takes its time.
        """
        self.count += 1
        bench = self.bench
        bench.state.write_bytes(content)
        before = photograph(bench.directory)
        refusal(lambda: self.store.call("snapshot", {}, "alice"), *codes)
        refusal(lambda: impl.read_durable_epoch(bench.directory), *codes)
        if fresh:
            refusal(lambda: bench.open(), *codes)
            found = {fault.code for fault in impl.audit_directory(bench.directory).faults}
            assert found & set(codes), found
        assert photograph(bench.directory) == before

    def accepted(self, content: bytes) -> None:
        """All readers take the state `content`, and nobody writes.

        A store opened for the occasion reads it, since `store` must not: what it has once seen whole,
        it holds later states against.
        """
        self.count += 1
        bench = self.bench
        bench.state.write_bytes(self.good)
        store = bench.open()
        bench.state.write_bytes(content)
        before = photograph(bench.directory)
        assert store.call("snapshot", {}, "alice") is not None
        assert impl.read_durable_epoch(bench.directory) == EPOCH
        assert impl.audit_directory(bench.directory).faults == ()
        bench.open().close()
        store.close()
        assert photograph(bench.directory) == before


def identity_refused(bench: Bench, store: impl.Coordinator, content: bytes, *, fresh: bool = True) -> None:
    bench.identity.write_bytes(content)
    before = photograph(bench.directory)
    refusal(lambda: store.call("snapshot", {}, "alice"), "DURABILITY_FAILED")
    refusal(lambda: impl.read_durable_epoch(bench.directory), "DURABILITY_FAILED")
    if fresh:
        refusal(lambda: bench.open(), "DURABILITY_FAILED")
    assert "DURABILITY_FAILED" in {fault.code for fault in impl.audit_directory(bench.directory).faults}
    assert photograph(bench.directory) == before
