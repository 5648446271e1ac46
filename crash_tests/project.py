"""A project's own ledger on real files, and the authority that answers from it, for races of processes.

Guarantees: for each reservation ADMIT and ABANDON exclude each other, whichever process asks first, and
what was recorded survives any kill: a record is written aside and then linked to its name, which only one
can do. The coordinator is trusted for nothing here.

Not guaranteed: numbers that count up. The commit number of a record is read off the reservation's id, so
that every process knows it without asking.
"""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from uuid import uuid4

from attrs import define, field

Form = dict[str, object]

ARBITRATION = "decision"
ENDING = "ending"


def sequence_of(reservation_id: str) -> int:
    """The commit number that the project gives to its record of this reservation; at least 1."""
    return int(reservation_id[-12:]) + 1


@define
class Project:
    """The ledger: `<reservation id>.decision` says ADMIT or ABANDON, `<id>.ending` that the run is over."""

    directory: Path

    def admit(self, reservation: Mapping[str, object]) -> str:
        """Records ADMIT, unless something is recorded already; answers what stands there now."""
        return self._decide(str(reservation["reservationId"]), "ADMIT")

    def abandon(self, reservation: Mapping[str, object]) -> str:
        """Records ABANDON, unless something is recorded already; answers what stands there now."""
        return self._decide(str(reservation["reservationId"]), "ABANDON")

    def end(self, reservation_id: str) -> None:
        """The run is over, and so are all its processes."""
        self._record(f"{reservation_id}.{ENDING}", "completed")

    def decided(self, reservation_id: str) -> str | None:
        return self._read(f"{reservation_id}.{ARBITRATION}")

    def ended(self, reservation_id: str) -> bool:
        return self._read(f"{reservation_id}.{ENDING}") is not None

    def _decide(self, reservation_id: str, what: str) -> str:
        return self._record(f"{reservation_id}.{ARBITRATION}", what)

    def _record(self, name: str, what: str) -> str:
        aside = self.directory / f"{uuid4().hex}.aside"
        aside.write_text(json.dumps(what))
        try:
            (self.directory / name).hardlink_to(aside)
        except FileExistsError:
            pass
        finally:
            aside.unlink()
        return self._read(name) or what

    def _read(self, name: str) -> str | None:
        try:
            return str(json.loads((self.directory / name).read_text()))
        except FileNotFoundError:
            return None


def _nothing(moment: str) -> None:
    """Nobody interferes."""


@define
class ProjectAuthority:
    """The trusted callbacks of one host. `during` is called with each callback's name before it answers.

    `expires_at` is the end of the host's lease, in milliseconds since the epoch.
    """

    project: Project
    holder_id: str = "holder-1"
    epoch: int = 1
    during: Callable[[str], None] = field(default=_nothing)
    expires_at: int = 4_000_000_000_000

    def read_lease(self) -> Form:
        self.during("read_lease")
        return {
            "holderId": self.holder_id,
            "fencingEpoch": self.epoch,
            "endpoint": f"process-{os.getpid()}",
            "expiresAt": self.expires_at,
        }

    def authorize(self, context: object, operation: str, reservation: object) -> Form:  # noqa: ARG002 - a callback's form
        self.during("authorize")
        return {"principal": f"p-{context}", "ownerId": f"o-{context}", "operator": context == "root"}

    def read_admission(self, reservation: Mapping[str, object]) -> Form:
        self.during("read_admission")
        return self._answer(reservation, self.project.decided(str(reservation["reservationId"])))

    def abandon_admission_if_absent(self, reservation: Mapping[str, object]) -> Form:
        self.during("abandon_admission_if_absent")
        return self._answer(reservation, self.project.abandon(reservation))

    def read_release(self, reservation: Mapping[str, object]) -> Form | None:
        self.during("read_release")
        identifier = str(reservation["reservationId"])
        if self.project.decided(identifier) != "ADMIT" or not self.project.ended(identifier):
            return None
        return {
            **self._answer(reservation, "ADMIT"),
            "proofId": f"proof-{identifier}",
            "status": "completed",
            "stage": "terminal",
            "requiresReadmission": False,
            "providerNoLiveProcessTree": True,
            "noAmbiguousJobs": True,
            "reconcileTimeoutOnly": False,
        }

    def _answer(self, reservation: Mapping[str, object], decision: str | None) -> Form:
        names = ("reservationId", "projectId", "projectControlDomainId", "runId")
        answer: Form = {name: reservation[name] for name in names}
        sequence = sequence_of(str(reservation["reservationId"]))
        if decision == "ADMIT":
            return {**answer, "projectAdmitCommitSeq": sequence, "runVersion": 1}
        if decision == "ABANDON":
            abandoned = {"status": "abandoned", "abandonmentCommitSeq": sequence, "runVersion": 0}
            return {**answer, **abandoned}
        return {**answer, "status": "not-admitted", "runVersion": 0}
