"""The rules by which Hypothesis walks through the ledger's model and store: clients, retries, failures.

Three clients share one store. Requests are numbered, so that the same one comes up again: from the client
that lost its answer, or from another. Whether an honest retry has one effect is the lockstep's to see.
Failing steps, deaths and tampering come with preconditions or as short stories that leave the store usable.
"""

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from model.gated.actions import (
    FAULTS,
    ApplySteps,
    Call,
    CloseLedger,
    Compensate,
    CompensationStep,
    Crash,
    Fault,
    OpenLedger,
    Raising,
    ReadState,
    Step,
    Tamper,
    Transact,
)
from model.gated.always import lines_of
from model.gated.drawing import AFTER, BEFORE, NONSENSE
from model.gated.stepping import steps
from model.gated.values import Mirror, World
from model.values import JSON
from stateful_tests.gated.lockstep import LedgerLockstep
from stateful_tests.walker import Example

CLIENTS = ("a", "b", "c")
clients = st.sampled_from(CLIENTS)
numbers = st.integers(1, 9)
picks = st.integers(0, 40)
mutations: st.SearchStrategy[dict[str, JSON]] = st.sampled_from(
    (
        {"increment": "n"},
        {"set": {"a": 1, "b": None}},
        {"set": {"\u00fc\U0001f512\ue000": [True, {"": "\u0001"}]}, "remove": ["a"]},
        {"remove": ["n", "nobody"]},
        {},
    )
)
mirrors = st.sampled_from(("deleted", "emptied", "corrupt", "schema", "edited", "behind"))
raising: st.SearchStrategy[Raising | None] = st.sampled_from((None, None, None, "before", "after"))


def _faults() -> st.SearchStrategy[tuple[Fault, ...]]:
    """Mostly nothing: what always fails gets nowhere. A failing cut goes with a failing append."""
    every = [Fault(moment, 1, kind) for moment, kinds in FAULTS.items() for kind in kinds]
    single = st.sampled_from(every)
    later = st.sampled_from([Fault(moment, 2, "fails") for moment in ("append", "append-fsync", "mirror")])
    poison = st.sampled_from(
        [(Fault("append-fsync", 1, "fails"), Fault(cut, 1, "fails")) for cut in ("cut", "cut-fsync")]
    )
    nothing: st.SearchStrategy[tuple[Fault, ...]] = st.just(())
    return st.one_of(nothing, nothing, nothing, st.tuples(single), st.tuples(later), poison)


faulty = _faults()


class LedgerMachine(Example):
    """The rules. `machine.machine_class` says where the stores stand."""

    system_name = "ledger"
    pair: LedgerLockstep

    @property
    def world(self) -> World:
        return self.pair.world

    def whoever(self, client: str) -> str:
        """`client` if it can be of use, else another that can, else `client`, opened anew."""
        able = {each.name for each in self.world.clients if not each.poisoned}
        if client in able or (client in {each.name for each in self.world.clients} and self.steps_on % 3):
            return client
        if able and self.steps_on % 2:
            return min(able)
        self.act(OpenLedger(client))
        if client not in {each.name for each in self.world.clients}:
            self.anew()
            self.act(OpenLedger(client))
        return client

    @property
    def steps_on(self) -> int:
        return len(self.records)

    def anew(self) -> None:
        """What can't be opened any more is deleted, all of it."""
        for each in self.world.clients:
            self.act(CloseLedger(each.name))
        if self.world.mirror != "missing":
            self.act(Tamper("mirror-deleted"))
        if self.world.ledger is not None:
            self.act(Tamper("ledger-deleted"))

    def transaction(self, client: str, number: int, mutation: dict[str, JSON], *faults: Fault) -> Transact:
        return Transact(
            client,
            f"op-{number}",
            f"run-{number % 3}",
            "node",
            "row.change",
            "apply",
            f"k{number}",
            mutation,
            intent=number,
            faults=faults,
        )

    @initialize(client=clients)
    def first_opening(self, client: str) -> None:
        self.act(OpenLedger(client))

    @rule(client=clients, number=numbers, mutation=mutations, faults=faulty)
    def transact(
        self, client: str, number: int, mutation: dict[str, JSON], faults: tuple[Fault, ...]
    ) -> None:
        self.act(self.transaction(self.whoever(client), number, mutation, *faults))

    @rule(client=clients, other=clients, number=numbers, faults=faulty)
    def answer_is_lost_and_asked_for(
        self, client: str, other: str, number: int, faults: tuple[Fault, ...]
    ) -> None:
        """The client or another asks again, and what it would change now is another thing."""
        first = self.transaction(self.whoever(client), number, {"increment": "n"}, *faults)
        self.act(first)
        self.act(self.transaction(self.whoever(other), number, {"raises": True}))
        self.act(self.transaction(self.whoever(client), number, {"increment": "n"}))

    @rule(client=clients, number=numbers, pick=picks)
    def other_requests(self, client: str, number: int, pick: int) -> None:
        """Under a known key, of the wrong form, or through the gate."""
        name = self.whoever(client)
        plain = self.transaction(name, number, {"increment": "n"})
        garbage: dict[str, JSON] = {"garbage": NONSENSE[pick % len(NONSENSE)]}
        several: tuple[dict[str, object], ...] = (
            {"intent": "another"},
            {"attempt_id": "another"},
            {"mutation": {"raises": True}},
            {"mutation": garbage},
            {"phase": "verify", "verifier": False, "idempotency_key": f"v{number}"},
            {"phase": "verify", "verifier": True, "idempotency_key": f"v{number}"},
            {"phase": "verify", "verifier": "raises", "idempotency_key": f"v{number}"},
            {"phase": "receipt"},
            {"idempotency_key": ""},
        )
        self.act(_changed(plain, several[pick % len(several)]))

    @rule(client=clients, number=numbers, kinds=st.integers(0, 7), raises=raising, at=picks, faults=faulty)
    def steps_are_applied(
        self,
        client: str,
        number: int,
        kinds: int,
        raises: Raising | None,
        at: int,
        faults: tuple[Fault, ...],
    ) -> None:
        listed = [
            Step(f"s{n}", f"r{n}", n, bool(kinds >> n & 1), BEFORE, AFTER, raises if n == at % 3 else None)
            for n in range(3)
        ]
        name = self.whoever(client)
        self.act(ApplySteps(name, f"run-{number}", "node", "op", tuple(listed), faults=faults))
        if at % 2:
            self.act(ApplySteps(self.whoever(client), f"run-{number}", "node", "op", tuple(listed)))

    @rule(client=clients, number=numbers, kinds=st.integers(0, 7), raises=raising, at=picks, faults=faulty)
    def steps_are_undone(
        self,
        client: str,
        number: int,
        kinds: int,
        raises: Raising | None,
        at: int,
        faults: tuple[Fault, ...],
    ) -> None:
        listed = [
            CompensationStep(
                f"s{n}", n, bool(kinds >> n & 1), bool(kinds >> n & 1), raises if n == at % 3 else None
            )
            for n in range(3)
        ]
        name = self.whoever(client)
        self.act(
            Compensate(
                name, f"run-{number}", "node", "op", "undo", AFTER, BEFORE, tuple(listed), faults=faults
            )
        )

    @rule(client=clients, number=numbers, pick=picks, steps_too=st.booleans(), faults=faulty)
    def a_client_dies(
        self, client: str, number: int, pick: int, steps_too: bool, faults: tuple[Fault, ...]
    ) -> None:
        """Somewhere inside what it does; it, or another, comes back and asks again."""
        name = self.whoever(client)
        inside: Call = self.transaction(name, number, {"increment": "n"}, *faults)
        if steps_too:
            listed = tuple(Step(f"s{n}", f"r{n}", n, n == 1, BEFORE, AFTER) for n in range(2))
            inside = ApplySteps(name, f"run-{number}", "node", "op", listed, faults=faults)
        self.act(_death(self.world, inside, pick))
        self.act(_plain(inside, self.whoever(CLIENTS[pick % 3])))

    @rule(client=clients, faults=faulty)
    def state_is_read(self, client: str, faults: tuple[Fault, ...]) -> None:
        self.act(ReadState(self.whoever(client), faults))

    @precondition(lambda self: self.since_opening >= 4)
    @rule(client=clients, faults=faulty, pick=picks)
    def reopen(self, client: str, faults: tuple[Fault, ...], pick: int) -> None:
        self.act(
            _death(self.world, OpenLedger(client, faults), pick) if pick % 4 == 0 else OpenLedger(client)
        )
        self.act(OpenLedger(client, faults))
        self.since_opening = 0

    @precondition(lambda self: self.since_opening >= 4 and len(lines_of(self.world)) > 0)
    @rule(
        kind=mirrors,
        n=picks,
    )
    def the_mirror_is_tampered_with(self, kind: str, n: int) -> None:
        for each in self.world.clients:
            self.act(CloseLedger(each.name))
        if isinstance(self.world.mirror, Mirror):
            behind = n % (len(lines_of(self.world)) + 1) if kind == "behind" else 0
            self.act(Tamper(f"mirror-{kind}", n=behind))
        self.act(OpenLedger("a"))
        self.since_opening = 0

    @precondition(lambda self: self.since_opening >= 4 and len(lines_of(self.world)) > 1)
    @rule(kind=st.sampled_from(("cut", "torn")), n=st.integers(1, 400), client=clients)
    def the_tail_is_tampered_with(self, kind: str, n: int, client: str) -> None:
        """A torn tail is cut at the next call; a cut one is refused for good, so the files are put aside."""
        self.act(Tamper(f"tail-{kind}", n=n))
        self.act(ReadState(client))
        self.act(OpenLedger(client))
        if kind == "cut":
            self.anew()
            self.act(OpenLedger(client))
        self.since_opening = 0


def _changed(action: Transact, changes: dict[str, object]) -> Transact:
    return evolve(action, **changes)  # type: ignore[arg-type]  # nonsense on purpose


def _death(world: World, inside: Call, pick: int) -> Call | Crash:
    """Death at one of the small steps of `inside`, which is done unharmed if it has none."""
    names = [name for name, _ in steps(world, inside)]
    if not names:
        return inside
    at = pick % len(names)
    nth = names[: at + 1].count(names[at])
    return Crash(inside.client, names[at] if nth == 1 else f"{names[at]}:{nth}", inside)


def _plain(action: Call, client: str) -> Call:
    """The same by `client`, and nothing fails."""
    return evolve(action, client=client, faults=())
