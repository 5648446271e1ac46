"""A clock and an authority that do as the test tells them.

Guarantees: every call is logged with its arguments; `interfere` strikes at the n-th call of one callback,
counted within one `transaction`. Without interference the answers are plain and truthful: what `lease`,
`people`, `admissions` and `releases` hold.

`Authority` has no `abandon_admission_if_absent`; `Arbitrating` has it.
"""

import copy
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from impl.tests.derive_store import T0

Answer = Callable[[Callable[[], Any]], Any]
"""What stands in for one answer; it is handed the truthful one as a thunk."""


def answers(value: Any) -> Answer:
    return lambda _truth: value


def raises(error: BaseException) -> Answer:
    def answer(_truth: Callable[[], Any]) -> Any:
        raise error

    return answer


def meanwhile(event: Callable[..., Any]) -> Answer:
    """`event` happens while the callback is awaited; then it answers the truth of afterwards."""

    def answer(truth: Callable[[], Any]) -> Any:
        event()
        return truth()

    return answer


class Clock:
    """Milliseconds, moved by hand."""

    def __init__(self, now: int = T0 + 60_000) -> None:
        self.now: Any = now

    def __call__(self) -> Any:
        return self.now

    def advance(self, ms: int) -> None:
        self.now += ms


BINDING = ("projectId", "projectControlDomainId", "runId")


class Authority:
    def __init__(self, clock: Clock, *, holder: str = "host-1", epoch: int = 2) -> None:
        self.lease: Any = {
            "holderId": holder,
            "fencingEpoch": epoch,
            "endpoint": "unix:/run/host-1",
            "expiresAt": clock.now + 10**9,
        }
        self.people: dict[Any, Any] = {
            "alice": {"principal": "p-alice", "ownerId": "o-alice", "operator": False},
            "bob": {"principal": "p-bob", "ownerId": "o-bob", "operator": False},
            "root": {"principal": "p-root", "ownerId": "o-root", "operator": True},
            "boss": {"principal": "p-boss", "ownerId": "o-boss", "operator": True},
        }
        self.admissions: dict[str, Any] = {}
        self.releases: dict[str, Any] = {}
        self.log: list[tuple[str, tuple[Any, ...]]] = []
        self._counts: Counter[str] = Counter()
        self._plans: dict[tuple[str, int], Answer] = {}
        self.constantly: dict[str, Answer] = {}
        """What stands in for every answer of a callback, until it is taken out again."""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Counts and logs calls from here; each planned interference must strike within the block."""
        self.log.clear()
        self._counts.clear()
        try:
            yield
        finally:
            missed = sorted(self._plans)
            self._plans.clear()
            assert not missed, f"never called: {missed}; called: {self.called}"

    def interfere(self, callback: str, nth: int, answer: Answer) -> None:
        self._plans[callback, nth] = answer

    @property
    def called(self) -> list[str]:
        return [name for name, _ in self.log]

    def _answer(self, name: str, given: tuple[Any, ...], truth: Callable[[], Any]) -> Any:
        self.log.append((name, given))
        self._counts[name] += 1
        plan = self._plans.pop((name, self._counts[name]), self.constantly.get(name))
        return copy.deepcopy(truth()) if plan is None else plan(lambda: copy.deepcopy(truth()))

    def read_lease(self) -> Any:
        return self._answer("read_lease", (), lambda: self.lease)

    def authorize(self, context: Any, operation: Any, reservation: Any) -> Any:
        given = (context, operation, copy.deepcopy(reservation))
        return self._answer("authorize", given, lambda: self.people.get(context))

    def read_admission(self, reservation: Any) -> Any:
        def truth() -> Any:
            default = {**_named(reservation), "status": "not-admitted", "runVersion": 0}
            return self.admissions.get(reservation["reservationId"], default)

        return self._answer("read_admission", (copy.deepcopy(reservation),), truth)

    def read_release(self, reservation: Any) -> Any:
        given = (copy.deepcopy(reservation),)
        return self._answer("read_release", given, lambda: self.releases.get(reservation["reservationId"]))

    def admit(self, reservation: Any, sequence: int = 1, version: int = 1) -> dict[str, Any]:
        """The project's ledger proves an admission from now on."""
        proof = {**_named(reservation), "projectAdmitCommitSeq": sequence, "runVersion": version}
        self.admissions[reservation["reservationId"]] = proof
        return proof

    def abandon(self, reservation: Any, sequence: int = 1) -> dict[str, Any]:
        answer = {
            **_named(reservation),
            "status": "abandoned",
            "abandonmentCommitSeq": sequence,
            "runVersion": 0,
        }
        self.admissions[reservation["reservationId"]] = answer
        return answer

    def finish(self, reservation: Any, status: str = "completed", **more: Any) -> dict[str, Any]:
        """The run of an admitted reservation has ended, and nothing of it lives."""
        proof = {
            **self.admissions[reservation["reservationId"]],
            "proofId": "proof-1",
            "status": status,
            "stage": "terminal",
            "requiresReadmission": False,
            "providerNoLiveProcessTree": True,
            "noAmbiguousJobs": True,
            "reconcileTimeoutOnly": False,
            **more,
        }
        self.releases[reservation["reservationId"]] = proof
        return proof


class Arbitrating(Authority):
    """With the project's own arbitration: it abandons what was never admitted."""

    def abandon_admission_if_absent(self, reservation: Any) -> Any:
        def truth() -> Any:
            known = self.admissions.get(reservation["reservationId"])
            return self.abandon(reservation) if known is None else known

        return self._answer("abandon_admission_if_absent", (copy.deepcopy(reservation),), truth)


def _named(reservation: Any) -> dict[str, Any]:
    return {name: reservation[name] for name in ("reservationId", *BINDING)}
