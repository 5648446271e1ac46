"""The authority's callbacks as a transaction meets them, and what strikes when they are called.

`Callbacks` carries the world through one transaction: each question is answered by the surroundings as they
stand at that moment, unless a `Disturbance` has the callback raise, answer something else or call the store.
It also has the moments at which something can strike without a question: `prepare`, `activation`, `rename`.

An untrue proof that would free a slot is noted in `broken`, since no store could know better.
"""

from model import answers, surroundings
from model.actions import Answers, Damage, Disturbance, Happens, Moment, Raises
from model.outcomes import Declined, SideEffects
from model.values import Identity, Lease, Row, World


class RefusalError(Exception):
    """Ends a transaction; only seen inside the model, which answers with `Refused`."""

    def __init__(self, code: str, side_effects: SideEffects = "none") -> None:
        super().__init__(code)
        self.code = code
        self.side_effects = side_effects


class ClockWentBackError(RefusalError):
    """The clock went backwards: the one failure that a sweep never skips."""


class ImpossibleError(Exception):
    """A disturbance asks for what cannot happen; the whole action is declined."""


class Callbacks:
    """The world during one transaction, and who answers for it."""

    __slots__ = ("arrivals", "broken", "disturbances", "files_were_checked", "world")

    def __init__(self, world: World, disturbances: tuple[Disturbance, ...]) -> None:
        self.world = world
        self.disturbances = disturbances
        self.arrivals: dict[str, int] = {}
        self.broken: frozenset[str] = frozenset()
        self.files_were_checked = False

    def arrive(self, moment: Moment) -> Answers | None:
        """Lets strike what strikes now; gives an answer that takes the place of the truth, if any.

        Raises `RefusalError` if the callback raises, and `ImpossibleError`.
        """
        if not self.disturbances:
            return None
        nth = self.arrivals[moment] = self.arrivals.get(moment, 0) + 1
        decisive = None
        for disturbance in self.disturbances:
            if disturbance.moment != moment or disturbance.nth != nth:
                continue
            effect = disturbance.effect
            if isinstance(effect, Happens):
                if self.files_were_checked and isinstance(effect.event, Damage):
                    raise ImpossibleError("nothing looks at the files again after step 9")
                after = surroundings.happen(self.world, effect.event, nested=True)
                if isinstance(after, Declined):
                    raise ImpossibleError(after.reason)
                self.world = after
            elif decisive is None:
                decisive = effect
        if decisive is None:
            return None
        if moment == "rename":
            raise ImpossibleError("no callback is called at the rename")
        if isinstance(decisive, Answers):
            return decisive
        if isinstance(decisive, Raises):
            if decisive.code is None:
                raise RefusalError("DURABILITY_FAILED", "unknown")
            raise RefusalError(decisive.code)
        raise RefusalError("DURABILITY_FAILED")  # the store was called from inside its own callback

    def read_lease(self) -> Lease | None:
        answer = self.arrive("read_lease")
        if answer is not None:
            return answers.lease(answer.value)
        lease = self.world.lease
        return lease if isinstance(lease, Lease) else None

    def authorize(self, context: str) -> Identity | None:
        answer = self.arrive("authorize")
        if answer is not None:
            return answers.identity(answer.value)
        for name, identity in self.world.people:
            if name == context:
                return identity if isinstance(identity, Identity) else None
        return None

    def read_admission(self, row: Row) -> answers.Admission | answers.Abandonment | None:
        answer = self.arrive("read_admission")
        if answer is not None:
            return self._told(row, answers.verdict(answer.value))
        return answers.truth(surroundings.fact_of(self.world, row.reservation_id))

    def arbitrate(self, row: Row) -> answers.Admission | answers.Abandonment | None:
        """`abandon_admission_if_absent`: ADMIT or ABANDON, whichever came first."""
        answer = self.arrive("abandon_admission_if_absent")
        if answer is not None:
            return self._told(row, answers.verdict(answer.value))
        if surroundings.fact_of(self.world, row.reservation_id) is None:
            self.world = surroundings.abandoned(self.world, row.reservation_id, row.binding)
        return answers.truth(surroundings.fact_of(self.world, row.reservation_id))

    def read_release(self, row: Row) -> answers.Release | None:
        answer = self.arrive("read_release")
        fact = surroundings.fact_of(self.world, row.reservation_id)
        if answer is None:
            return answers.true_release(fact)
        proof = answers.release(answer.value)
        if (
            proof is not None
            and proof.frees
            and proof.admission.names(row)
            and not (fact is not None and fact.quiescent)
        ):
            self._lied_to(row)
        return proof

    def _told(
        self, row: Row, verdict: answers.Admission | answers.Abandonment | None
    ) -> answers.Admission | answers.Abandonment | None:
        if isinstance(verdict, answers.Abandonment) and verdict.names(row):
            fact = surroundings.fact_of(self.world, row.reservation_id)
            if fact is None or fact.kind != "abandoned":
                self._lied_to(row)
        return verdict

    def _lied_to(self, row: Row) -> None:
        """A proof that would free a slot is untrue: against an assumption, unless that is dropped."""
        if "proofs-true" not in self.world.dropped:
            self.broken |= {f"proofs-true:{row.reservation_id}"}
