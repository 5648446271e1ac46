"""The surroundings of a store under test, as docs/protocol.md tells them: take this file as it is.

It keeps clock, lease, identities and the projects' ledgers, answers the authority's callbacks from them, and
lets disturbances strike. It knows nothing of the store but how to make one of its errors.
"""

import copy
from collections import Counter
from collections.abc import Callable
from typing import Any

IDS = ("reservationId", "projectId", "projectControlDomainId", "runId")
Message = dict[str, Any]


def ids(told: Message) -> Message:
    return {name: told[name] for name in IDS}


class Surroundings:
    """`refusal` makes an error of a code, `reenter` calls the store's snapshot, `close` ends a host."""

    def __init__(
        self,
        told: Message,
        *,
        refusal: Callable[[str], Exception],
        reenter: Callable[[str, str], Any],
        close: Callable[[str], None],
    ) -> None:
        self.clock: int = told["clock"]
        self.lease: Any = told["lease"]
        self.identities: Message = dict(told["identities"])
        self.facts: dict[str, Message] = copy.deepcopy(told["facts"])
        self.project_seq: int = told["projectSeq"]
        self.launched: list[str] = list(told["launched"])
        self._refusal, self._reenter, self._close = refusal, reenter, close
        self.begin([])

    def begin(self, disturbances: list[Message]) -> None:
        """A request starts: arrivals count from 1 again, and nothing has struck yet."""
        self._disturbances = disturbances
        self._arrivals: Counter[str] = Counter()
        self.struck: list[int] = []

    def happen(self, event: Message) -> bool:
        """What happens between requests, or meanwhile. False if `event["do"]` is no event."""
        match event["do"]:
            case "advanceClock":
                self.clock += event["ms"]
            case "setLease":
                self.lease = event["lease"]
            case "setIdentity":
                self.identities[event["context"]] = event["identity"]
            case "close":
                self._close(event["host"])
            case "admit":
                run = {
                    "status": "running",
                    "stage": "running",
                    "requiresReadmission": False,
                    "quiescent": False,
                }
                self._record(event, {"kind": "admitted", "runVersion": 1, **run})
            case "abandon":
                self._record(event, {"kind": "abandoned", "runVersion": 0})
            case "finish":
                self._move(event, status=event["status"], stage="terminal")
            case "park":
                self._move(event, status="paused", stage="parked", requiresReadmission=True)
            case "quiesce":
                self.facts[event["reservationId"]]["quiescent"] = True
            case _:
                return False
        return True

    def _record(self, event: Message, rest: Message) -> None:
        self.project_seq += 1
        self.facts[event["reservationId"]] = {**ids(event), "commitSeq": self.project_seq, **rest}

    def _move(self, event: Message, **changes: Any) -> None:
        fact = self.facts[event["reservationId"]]
        fact.update(changes, runVersion=fact["runVersion"] + 1)

    def arrive(self, moment: str, host: str, context: str = "") -> tuple[Any] | None:
        """One arrival at a moment: what strikes there strikes. An answer that takes the truth's place."""
        self._arrivals[moment] += 1
        decisive: Message | None = None
        for index, one in enumerate(self._disturbances):
            if (one["moment"], one["nth"]) != (moment, self._arrivals[moment]):
                continue
            self.struck.append(index)
            if "happens" in one["effect"]:
                self.happen(one["effect"]["happens"])
            else:
                decisive = decisive or one["effect"]
        if decisive is None:
            return None
        if "answers" in decisive:
            return (copy.deepcopy(decisive["answers"]),)
        if "reenters" in decisive:
            return (self._reenter(host, context),)
        code = decisive["raises"]
        raise RuntimeError("the callback failed") if code is None else self._refusal(code)

    def admission(self, row: Message) -> Message:
        fact = self.facts.get(row["reservationId"])
        if fact is None:
            return {"status": "not-admitted", **ids(row), "runVersion": 0}
        if fact["kind"] == "admitted":
            proven = {"projectAdmitCommitSeq": fact["commitSeq"], "runVersion": fact["runVersion"]}
            return {**ids(fact), **proven}
        abandoned = {"status": "abandoned", "abandonmentCommitSeq": fact["commitSeq"]}
        return {**ids(fact), **abandoned, "runVersion": fact["runVersion"]}

    def arbitrate(self, row: Message) -> Message:
        if row["reservationId"] not in self.facts:
            self.happen({**ids(row), "do": "abandon"})
        return self.admission(row)

    def release(self, row: Message) -> Message | None:
        fact = self.facts.get(row["reservationId"])
        if fact is None or fact["kind"] != "admitted":
            return None
        told = {name: fact[name] for name in ("runVersion", "status", "stage", "requiresReadmission")}
        return {
            **ids(fact),
            **told,
            "projectAdmitCommitSeq": fact["commitSeq"],
            "proofId": f"proof-{fact['commitSeq']}-{fact['runVersion']}",
            "providerNoLiveProcessTree": fact["quiescent"],
            "noAmbiguousJobs": fact["quiescent"],
            "reconcileTimeoutOnly": False,
        }


class Authority:
    """The authority's callbacks, for one host."""

    def __init__(self, around: Surroundings, host: str, *, arbitration: bool) -> None:
        self._around, self._host = around, host
        self.arbitrates = arbitration

    def read_lease(self) -> Any:
        said = self._around.arrive("read_lease", self._host)
        return said[0] if said else copy.deepcopy(self._around.lease)

    def authorize(self, context: str) -> Any:
        said = self._around.arrive("authorize", self._host, context)
        return said[0] if said else copy.deepcopy(self._around.identities.get(context))

    def read_admission(self, row: Message) -> Any:
        said = self._around.arrive("read_admission", self._host)
        return said[0] if said else self._around.admission(row)

    def abandon_admission_if_absent(self, row: Message) -> Any:
        said = self._around.arrive("abandon_admission_if_absent", self._host)
        return said[0] if said else self._around.arbitrate(row)

    def read_release(self, row: Message) -> Any:
        said = self._around.arrive("read_release", self._host)
        return said[0] if said else self._around.release(row)
