"""A deliberately naive capacity coordinator in one SQLite database, whose lock keeps processes apart.

It has six of the eleven operations, calls CAPACITY_EXCEEDED by another name, and keeps no `updatedAt`: its
owner has declared that in policy.toml. What is wrong with it on purpose stands in values.py.
"""

import hashlib
import json
from collections.abc import Callable
from typing import Any

from arguments import checked
from errors import StoreError
from surroundings import IDS
from transaction import Host
from values import shows_the_end, verdict_of

HOLDING = ("reserved", "committed")
Message = dict[str, Any]


class Store(Host):
    """The operations: guards from top to bottom, then the change."""

    def call(self, operation: str, given: Message, context: str) -> Any:
        args = checked(operation, given)
        return self.transact(context, lambda: getattr(self, f"_{operation}")(args))

    def _held(self) -> int:
        return sum(row["reservation"]["state"] in HOLDING for row in self.db.rows())

    def _owned(self, row: Message) -> Message:
        same = row["principal"] == self.who[0] or "owner-only" in self.faults
        if row["ownerId"] != self.who[1] or not same:
            raise StoreError("AUTHORITY_REVOKED", "it is another owner's")
        return row

    def _own(self, name: str) -> Message:
        row = self.db.find(name)
        if row is None:
            raise StoreError("ADMISSION_BINDING_CONFLICT", "there is no such reservation")
        return self._owned(row)

    def _reserve(self, args: Message) -> Message:
        known = self.db.find(args["reservationId"])
        if known is not None:
            same = all(known["reservation"][name] == args[name] for name in IDS)
            if self._owned(known)["reservation"]["state"] != "reserved" or not same:
                raise StoreError("ADMISSION_BINDING_CONFLICT", "that id is taken")
            return known
        if self._held() >= self.db.number("maxActiveRuns"):
            raise StoreError("NO_SLOT")
        kept = {"state": "reserved", "slots": 1, "coordinatorEpoch": self.epoch}
        reservation = {**{name: args[name] for name in IDS}, **kept}
        reservation["reservedExpiresAt"] = self.now + args["ttlMs"]
        principal, owner, _ = self.who
        row: Message = {"reservation": reservation, "ownerId": owner, "principal": principal}
        row["concurrencyGuarantee"] = "enforced"
        self.db.put(row)
        return row

    def _commit(self, args: Message) -> Message:
        row = self._own(args["id"])
        reservation = row["reservation"]
        bound = {key: args[key] for key in ("attemptId", "providerJobHandle") if args[key] is not None}
        if reservation["state"] == "committed":
            return self._commit_again(row, args, bound)
        if reservation["state"] != "reserved" or self._taken(reservation):
            raise StoreError("ADMISSION_BINDING_CONFLICT")
        proof = self._ask(lambda: self.authority.read_admission(reservation))
        if reservation["reservedExpiresAt"] <= self._look() and "late-commit" not in self.faults:
            raise StoreError("ADMISSION_BINDING_CONFLICT", "its time is over")
        if verdict_of(proof) != "admitted" or any(proof[name] != reservation[name] for name in IDS):
            raise StoreError("ADMISSION_BINDING_CONFLICT", "the admission is not proven")
        if (
            proof["projectAdmitCommitSeq"] != args["projectAdmitCommitSeq"]
            and "any-sequence" not in self.faults
        ):
            raise StoreError("ADMISSION_BINDING_CONFLICT", "another sequence was admitted")
        return self._admit(row, proof, **bound)

    def _commit_again(self, row: Message, args: Message, bound: Message) -> Message:
        reservation = row["reservation"]
        had = {key: reservation.get(key) for key in ("attemptId", "providerJobHandle")}
        differs = any(value is not None and args[key] != value for key, value in had.items())
        if reservation["projectAdmitCommitSeq"] != args["projectAdmitCommitSeq"] or differs:
            raise StoreError("ADMISSION_BINDING_CONFLICT", "another value is bound")
        if any(had[key] != args[key] for key in had):
            reservation |= {**bound, "coordinatorEpoch": self.epoch}
            self.db.put(row)
        return row

    def _normalRelease(self, args: Message) -> Message:  # noqa: N802  # named as the operation is
        row = self._own(args["id"])
        reservation = row["reservation"]
        if reservation["state"] == "released":
            return row
        if reservation["state"] != "committed":
            raise StoreError("ADMISSION_BINDING_CONFLICT")
        proof = self._ask(lambda: self.authority.read_release(reservation))
        if (
            not shows_the_end(proof)
            or any(proof[name] != reservation[name] for name in IDS)
            or proof["projectAdmitCommitSeq"] != reservation["projectAdmitCommitSeq"]
            or (proof["runVersion"] < row["admitRunVersion"] and "stale-proof" not in self.faults)
        ):
            raise StoreError("RECONCILE_REQUIRED")
        reservation |= {"state": "released", "coordinatorEpoch": self.epoch}
        row |= {"releaseKind": "normal", "releaseProofId": proof["proofId"]}
        self.db.put(row)
        return row

    def _setMaxActiveRuns(self, args: Message) -> int:  # noqa: N802  # named as the operation is
        principal, _, operator = self.who
        request = {"kind": "setMaxActiveRuns", "maxActiveRuns": args["maxActiveRuns"]}
        if not operator:
            raise StoreError("POLICY_DENIED")
        known = self.db.commands().get(args["commandId"])
        if known is not None:
            if known["record"]["callerPrincipal"] != principal:
                raise StoreError("CROSS_PRINCIPAL_COMMAND")
            if known["request"] != request and "any-request" not in self.faults:
                raise StoreError("IDEMPOTENCY_CONFLICT")
            result: int = known["result"]
            return result
        if args["maxActiveRuns"] < self._held() and "below-held" not in self.faults:
            raise StoreError("NO_SLOT")
        self.db.set_number("maxActiveRuns", args["maxActiveRuns"])
        commit = self.db.number("commitSeq") + 1
        text = json.dumps(request, sort_keys=True, separators=(",", ":"))
        record = {
            "commandId": args["commandId"],
            "kind": "setMaxActiveRuns",
            "requestHash": hashlib.sha256(text.encode()).hexdigest(),
            "callerPrincipal": principal,
            "firstCommitSeq": commit,
            "lastCommitSeq": commit,
            "status": "completed",
        }
        command = {"request": request, "record": record, "result": args["maxActiveRuns"]}
        self.db.put_command(args["commandId"], command)
        return int(args["maxActiveRuns"])

    def _readReservation(self, args: Message) -> Message | None:  # noqa: N802  # named as the operation is
        row = self.db.find(args["id"])
        return None if row is None else self._owned(row)

    def _snapshot(self, _args: Message) -> Callable[[], Message]:
        return lambda: {  # after publication, for the numbers as they are then
            "commitSeq": self.db.number("commitSeq"),
            "fencingEpoch": self.epoch,
            "capacity": self._capacity(),
            "concurrencyGuarantee": "enforced",
            "reservations": self.db.rows(),
            "commands": list(self.db.commands().values()),
        }

    def _capacity(self) -> Message:
        states = [row["reservation"]["state"] for row in self.db.rows()]
        counts = {"reserved": states.count("reserved"), "committed": states.count("committed")}
        active = sum(counts.values())
        return {
            "maxActiveRuns": self.db.number("maxActiveRuns"),
            "active": active,
            **counts,
            "orphanSuspect": 0,
        }
