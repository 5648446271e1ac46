"""What every call has in common: fence, authorize, sweep, do it, authorize and fence again, publish."""

from collections.abc import Callable
from typing import Any

from database import Database
from errors import ClockError, StoreError
from surroundings import IDS, Authority
from values import identity_of, is_integer, is_telling, lease_of, verdict_of

Message = dict[str, Any]


class Host:
    """One host's opening of the store."""

    def __init__(
        self,
        database: Database,
        authority: Authority,
        clock: Callable[[], int],
        faults: set[str],
        *,
        holder: Any,
        epoch: Any,
        maximum: Any,
    ) -> None:
        if not is_integer(maximum, 1):
            raise StoreError("COMMAND_FAILED")
        if not is_integer(epoch, 1) or not is_telling(holder):
            raise StoreError("AUTHORITY_REVOKED")
        self.db, self.authority, self.clock, self.faults = database, authority, clock, faults
        self.holder, self.epoch, self.is_open, self.busy, self.latest = holder, epoch, True, False, 0
        self.transact(None, lambda: None, maximum)

    def transact(self, context: str | None, apply: Callable[[], Any], maximum: int = 0) -> Any:
        """Every call is one transaction; the order decides which error a caller sees."""
        if not self.is_open or self.busy:
            raise StoreError("DURABILITY_FAILED")
        self.busy = True
        try:
            return self._transact(context, apply, maximum)
        finally:
            self.db.roll_back()
            self.busy = False

    def _transact(self, context: str | None, apply: Callable[[], Any], maximum: int) -> Any:
        if "autocommit" not in self.faults:
            self.db.begin(at_once="begun-late" not in self.faults)
        fresh = not self.db.exists()
        if fresh and context is not None:
            raise StoreError("DURABILITY_FAILED")
        if fresh:
            if "autocommit" in self.faults:
                self.db.begin(at_once=True)
            start = {"fencingEpoch": self.epoch, "commitSeq": 0, "lastWallTime": 0, "maxActiveRuns": maximum}
            for name, value in start.items():
                self.db.set_number(name, value)
        before = None if fresh else self._content(self.db.number("fencingEpoch"))
        self.now = self._look()
        self._fence()
        self.who = self._authorize(context) if context is not None else ("", "", False)
        self._sweep()
        answer = apply()
        if context is not None and self._authorize(context) != self.who:
            raise StoreError("AUTHORITY_REVOKED")
        self._still_open()
        expires = self._fence()
        recorded = self._look()
        if self._content(self.epoch) != before:
            if self._look() >= expires:
                raise StoreError("AUTHORITY_REVOKED")
            self._still_open()
            self._publish(recorded)
        return answer() if callable(answer) else answer

    def _publish(self, recorded: int) -> None:
        if "in-two-steps" in self.faults:
            self.db.commit()
        self.db.set_number("fencingEpoch", self.epoch)
        self.db.set_number("commitSeq", self.db.number("commitSeq") + 1)
        self.db.set_number("lastWallTime", recorded)
        self.db.commit()

    def _still_open(self) -> None:
        if not self.is_open:
            raise StoreError("DURABILITY_FAILED", "the store was closed meanwhile")

    def _content(self, epoch: int) -> tuple[Any, ...]:
        """What a publication is for: nothing is written while this stays the same."""
        return epoch, self.db.number("maxActiveRuns"), self.db.rows(), self.db.commands()

    def _look(self) -> int:
        now = self.clock()
        if now < self.latest or now < self.db.number("lastWallTime"):
            raise ClockError("AUTHORITY_REVOKED", "the clock went backwards")
        self.latest = now
        return now

    def _fence(self) -> int:
        lease = lease_of(self._ask(self.authority.read_lease))
        now = self._look()
        fits = lease is not None and (lease["holderId"], lease["fencingEpoch"]) == (self.holder, self.epoch)
        if lease is None or not fits or lease["expiresAt"] <= now:
            raise StoreError("AUTHORITY_REVOKED", "the lease is not for this host")
        if self.db.number("fencingEpoch") > self.epoch:
            raise StoreError("AUTHORITY_REVOKED", "a newer host has been here")
        expires: int = lease["expiresAt"]
        return expires

    def _authorize(self, context: str) -> tuple[str, str, bool]:
        who = identity_of(self._ask(lambda: self.authority.authorize(context)))
        if who is None:
            raise StoreError("AUTHORITY_REVOKED", "the caller is nobody")
        return who

    def _ask(self, callback: Callable[[], Any]) -> Any:
        try:
            return callback()
        except StoreError:
            raise
        except Exception as error:
            raise StoreError("DURABILITY_FAILED", f"a callback failed: {error}", "unknown") from error

    def _sweep(self) -> None:
        start = self._look() - ("late-by-one" in self.faults)
        for row in self.db.rows():
            reservation = row["reservation"]
            if reservation["state"] != "reserved" or reservation["reservedExpiresAt"] > start:
                continue
            try:
                answer = self._arbitrate(reservation)
            except ClockError:
                raise
            except StoreError:
                self._look()
                continue
            self._look()
            self._fence()
            verdict = verdict_of(answer)
            if verdict is None or any(answer[name] != reservation[name] for name in IDS):
                continue
            if verdict == "admitted":
                if self._taken(reservation):
                    continue
                self._admit(row, answer)
            else:
                reservation["state"] = "expired"
                del reservation["reservedExpiresAt"]
                self.db.put(row)

    def _arbitrate(self, reservation: Message) -> Any:
        answer = self._ask(lambda: self.authority.read_admission(reservation))
        if verdict_of(answer) == "admitted" or not self.authority.arbitrates:
            return answer
        self._fence()
        return self._ask(lambda: self.authority.abandon_admission_if_absent(reservation))

    def _admit(self, row: Message, proof: Message, **bound: Any) -> Message:
        proven = {"projectAdmitCommitSeq": proof["projectAdmitCommitSeq"], "coordinatorEpoch": self.epoch}
        row["reservation"] |= {"state": "committed", **proven, **bound}
        del row["reservation"]["reservedExpiresAt"]
        row["admitRunVersion"] = proof["runVersion"]
        self.db.put(row)
        return row

    def _taken(self, reservation: Message) -> bool:
        binding = [reservation[name] for name in IDS[1:]]
        others = (row["reservation"] for row in self.db.rows() if row["reservation"]["state"] == "committed")
        return any(
            [one[name] for name in IDS[1:]] == binding
            for one in others
            if one["reservationId"] != reservation["reservationId"]
        )
