"""One transaction: the twelve steps, in the order that is part of the contract.

Guarantees: every operation goes through `Session.run`. The order of steps decides which error a caller
sees. A refusal changes neither file; an I/O error leaves the state before or, after the rename, the new
one. What is answered, value or refusal, rests on a state that is durable. Whatever happens, the mutex is
released.

Doesn't: know what an operation does, or how a file is written: see `operations` and `publish`.
"""

import contextlib

from attrs import evolve

from impl import disk
from impl.arguments import Host
from impl.authority import ask
from impl.canonical import ZERO_HASH, Business, Chain, business_of, dumps, entry_hash, file_of, state_hash_of
from impl.codec import to_json
from impl.directory import Directory
from impl.errors import AUTHORITY_REVOKED, DURABILITY_FAILED, CoordinatorError, io_failure, refuse
from impl.loading import Known, Memory, identity_for, load
from impl.lock import Held, Turns
from impl.operations import Plan
from impl.publish import drafted, remove_leftovers
from impl.sweep import sweep
from impl.validate import validate
from impl.values import AuditEntry, Reservation, State
from impl.work import Work


class Session:
    """One open store: the directory, the host, and what is remembered between calls."""

    def __init__(self, directory: Directory, host: Host) -> None:
        self.directory = directory
        self.host = host
        self.closed = False
        self.memory = Memory()
        self._turns = Turns()

    def run(self, plan: Plan, context: object) -> object:
        """Run one operation. Raises CoordinatorError, and nothing else that is an `Exception`."""
        try:
            self.check()
            return self._turns.during(
                self.directory, self.host.lock_timeout_s, lambda lock: self._run(plan, context, lock)
            )
        except CoordinatorError:
            raise
        except Exception as error:
            raise io_failure(f"{plan.operation} in {self.directory.path} failed", error) from error

    def _run(self, plan: Plan, context: object, lock: Held) -> object:
        self.check()
        remove_leftovers(self.directory)
        return _Transaction(self, plan, context, lock).run()

    def check(self) -> None:
        """Step 1: the store is open, and still where it was."""
        if self.closed:
            refuse(DURABILITY_FAILED, f"the store in {self.directory.path} is closed; open it anew")
        self.directory.check()


class _Transaction:
    """Steps 3 to 12, under the mutex."""

    def __init__(self, session: Session, plan: Plan, context: object, lock: Held) -> None:
        self.session = session
        self.directory = session.directory
        self.memory = session.memory
        self.plan = plan
        self.context = context
        self.lock = lock
        self.initializing = plan.operation == "initialize"
        self.loaded = False

    def run(self) -> object:
        try:
            return self._steps()
        except CoordinatorError as refusal:
            # A DURABILITY_FAILED tells nothing of the state, and may well be the disk itself.
            if refusal.code != DURABILITY_FAILED:
                self._make_durable()
            raise

    def _steps(self) -> object:
        host = self.session.host
        base = load(
            self.directory,
            self.memory,
            initialize=self.initializing,
            maximum=host.initial_max_active_runs,
            epoch=host.epoch,
        )
        self.loaded = base.exists
        work = Work(base, host, self.memory)
        work.now = work.look()
        work.fence()
        if base.state.fencing_epoch > host.epoch:
            refuse(
                AUTHORITY_REVOKED,
                f"the store has epoch {base.state.fencing_epoch}, this host has {host.epoch}: a newer host "
                "has taken over",
            )
        if not self.initializing:
            work.caller = work.authorize(self.context, self.plan.operation, self._shown(work))
        sweep(work)
        answer = self.plan.rule(work, self.plan.arguments)
        lease_until = self._recheck(work)
        recorded_at = work.look()
        state = self._publish(work, lease_until, recorded_at)
        self._make_durable()
        if self.plan.answer is not None:
            answer = self.plan.answer(state)
        if work.activation is not None:
            return self._activate(work, lease_until)
        return answer

    def _shown(self, work: Work) -> Reservation | None:
        """The reservation that the authority is shown: the stored one, or what is proposed."""
        if self.plan.subject is None:
            return None
        row = work.rows.get(self.plan.subject)
        if row is not None:
            return row.reservation
        return self.plan.proposal(work.epoch) if self.plan.proposal is not None else None

    def _recheck(self, work: Work) -> int:
        """Step 9, up to the fence. Returns until when the lease holds."""
        if not self.initializing:
            again = work.authorize(self.context, self.plan.operation, self._shown(work))
            if again != work.caller:
                refuse(AUTHORITY_REVOKED, "the authority changed its mind about the caller meanwhile")
        self.session.check()
        self.lock.check()
        return work.fence()

    def _publish(self, work: Work, lease_until: int, recorded_at: int) -> State:
        """Step 10. Returns the state as it now stands."""
        base = work.base
        changed = work.changed or not base.exists
        completing = base.exists and base.identity is None
        if not changed and not completing:
            return base.state
        directory = self.directory
        state, chain, business = (
            seal(work, recorded_at, self.plan.operation) if changed else (base.state, base.chain, None)
        )
        with contextlib.ExitStack() as drafts:
            publish_identity = publish_state = None
            if completing:
                draft = drafted("identity", directory.identity_path, identity_file(state), self.lock)
                publish_identity = drafts.enter_context(draft)
            if business is not None:
                raw = file_of(state, chain, business)
                draft = drafted("state", directory.state_path, raw, self.lock)
                publish_state = drafts.enter_context(draft)
            if work.look() >= lease_until:
                refuse(AUTHORITY_REVOKED, f"the lease ended at {lease_until}, just before publication")
            # Both once more: reading the lease and writing took long enough to be closed, or locked out.
            if self.session.closed:
                refuse(DURABILITY_FAILED, f"the store in {directory.path} was closed just before publication")
            self.lock.check()
            if publish_identity is not None:
                publish_identity()
                disk.renamed("identity")
                disk.sync_directory("identity", directory.path)
                self.memory.synced = True
            if publish_state is not None:
                publish_state()
                self.memory.known = Known(raw, state, chain)
                self.memory.synced = False
                disk.renamed("state")
                disk.sync_directory("state", directory.path)
                self.memory.synced = True
        if not base.exists:
            self._write_identity(identity_file(state))
        return state

    def _write_identity(self, identity: bytes) -> None:
        """The end of genesis: no refusal from here on, since the state is published."""
        directory = self.directory
        with drafted("identity", directory.identity_path, identity, self.lock) as publish:
            publish()
            disk.renamed("identity")
            disk.sync_directory("identity", directory.path)

    def _make_durable(self) -> None:
        """Durable before answered: sync a state that was read but not published and synced here."""
        if self.loaded and not self.memory.synced and not self.lock.lost:
            disk.sync_directory("foreign", self.directory.path)
            self.memory.synced = True

    def _activate(self, work: Work, lease_until: int) -> object:
        """Step 11: launch, while nobody else can release or re-fence."""
        self.session.check()
        self.lock.check()
        if work.look() >= lease_until:
            refuse(AUTHORITY_REVOKED, f"the lease ended at {lease_until}, just before the launch")
        assert work.activation is not None
        activation = work.activation
        return ask("activation", lambda: activation)


def identity_file(state: State) -> bytes:
    """The content of coordinator.identity.json that belongs to a state."""
    return dumps(to_json(identity_for(state))) + b"\n"


def seal(work: Work, recorded_at: int, action: str) -> tuple[State, Chain, Business]:
    """The state that this work leads to: one more commit, chained, hashed and validated."""
    before = work.base.state
    business = business_of(work.epoch, work.max_active_runs, work.rows, work.commands)
    entry = AuditEntry(
        commit_seq=work.commit_seq,
        epoch=work.epoch,
        recorded_at=recorded_at,
        action=action,
        principal=work.caller.principal if work.caller is not None else "coordinator-bootstrap",
        previous_hash=before.audit[-1].hash if before.audit else ZERO_HASH,
        state_digest=business.digest,
        hash="",
    )
    entry = evolve(entry, hash=entry_hash(entry))
    chain = work.base.chain.extended(entry)
    state = State(
        fencing_epoch=work.epoch,
        commit_seq=work.commit_seq,
        last_wall_time=recorded_at,
        directory_identity=before.directory_identity,
        instance_id=before.instance_id,
        max_active_runs=work.max_active_runs,
        reservations=work.rows,
        commands=work.commands,
        audit=(*before.audit, entry),
        state_hash="",
        version=1,
    )
    state_hash = state_hash_of(state, chain, business)
    state = evolve(state, state_hash=state_hash)
    validate(state, business, state_hash, trusted=before)
    return state, chain, business
