"""The runners behind `wire.jobs`: pinned traces and random walks against a target, and what the wire costs.

As `stateful_tests.runners`, for a store in another process. A runner stops at its first failure, which it
shrinks, unless the target hung: each try would cost the whole time limit.
"""

import contextlib
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import evolve, field, frozen

from model.actions import Action, ReadEpoch
from model.values import JSON, World
from stateful_tests import coordinator, pinned, replay
from stateful_tests.coverage import Coverage
from stateful_tests.failures import failure
from stateful_tests.pair import Judge, StepRecord
from stateful_tests.removing import remove
from stateful_tests.results import Failure, Job, JobResult
from stateful_tests.system import System
from stateful_tests.trace import Trace, record, versions
from stateful_tests.walks import walk as random_walk
from stateful_tests.wire import policy as policies
from stateful_tests.wire.faults import CLAUSES, HUNG, TargetFaultError
from stateful_tests.wire.lockstep import WireLockstep
from stateful_tests.wire.policy import Policy
from stateful_tests.wire.reach import Reach, within
from stateful_tests.wire.target import Command, Session, WireTarget

REPRODUCE = "holdtrue replay TRACE --target COMMAND"
SLOW: Final = "beyond/walks that a slow target left no time for"
PATIENCE_S: Final = {"quick": 45.0, "ci": 300.0, "deep": 900.0}
"""Seconds after which a job starts no further walk: what is left of its time may be needed for shrinking."""
_TRIES: Final = 400
_SHRINKING_S: Final = 60.0
"""What shrinking may cost: replays; and seconds, if each took as long as the walk that failed. Slow targets'
stories may stay longer than quick ones'."""


@frozen
class Aim:
    """What a job is aimed at: the command and what its owner has declared."""

    command: Command
    policy: Policy = field(factory=Policy)

    def to_json(self) -> dict[str, Any]:
        return {
            "command": self.command.text,
            "replyLimit": self.command.reply_limit_s,
            "policy": self.policy.to_json(),
        }

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> "Aim":
        command = Command(str(params["command"]), float(params["replyLimit"]))
        return cls(command, policies.from_json(params["policy"]))

    def system(self, session: Session, counts: Counter[str]) -> System:
        """The coordinator, as a target of this session, compared as its owner has declared."""

        def pair(target: WireTarget, world: World, judge: Judge | None) -> WireLockstep:
            return WireLockstep(target, world, judge=judge, policy=self.policy, counts=counts)

        return evolve(coordinator.SYSTEM, target=session.target, pair=pair)


def run_corpus(params: Mapping[str, Any]) -> JobResult:
    """Replays the pinned traces that the target can follow; the others are counted as beyond its reach."""
    aim, counts = Aim.of(params), Counter[str]()
    failed: list[Failure] = []
    with _at_work(aim, params, failed) as (session, root):
        reach = _reach_of(aim, session, root)
        system = aim.system(session, counts)
        for name in params["names"]:
            trace = pinned.pinned(name)
            why = out_of_reach(trace, reach)
            if why is not None:
                counts[why] += 1
                counts["beyond/pinned traces"] += 1
                continue
            actions = [action for action in trace.actions if not _spared(action, reach)]
            records = replay.run(actions, world=trace.world(), system=system)
            counts[f"corpus/{name}"] += 1
            counts["actions"] += len(records)
            if records[-1].divergence is not None:
                failed.append(_failure(records, aim, session, params, world=trace.world()))
                break
    return _result("corpus", params, counts, failed)


def out_of_reach(trace: Trace, reach: Reach) -> str | None:
    """Why the target can't follow `trace`, if it can't."""
    world = trace.world()
    for action in trace.actions:
        why = reach.beyond(action, world)
        if why is not None and not _spared(action, reach):
            return why
        world = coordinator.SYSTEM.step(world, action)[0]
    return None


def _spared(action: Action, reach: Reach) -> bool:
    """Whether a pinned trace is as good without `action`, which the target can't do: it changes nothing."""
    return isinstance(action, ReadEpoch) and not reach.capabilities.read_epoch


def run_walks(params: Mapping[str, Any]) -> JobResult:
    """Random walks of model and target in lockstep, with tours among them."""
    aim, coverage = Aim.of(params), Coverage()
    failed: list[Failure] = []
    seconds, steps = 0.0, 0
    with _at_work(aim, params, failed) as (session, root):
        reach = _reach_of(aim, session, root)
        system = aim.system(session, coverage.counts)
        until = time.monotonic() + PATIENCE_S[params["profile"]]
        for number in range(params["walks"]):
            if time.monotonic() > until:
                coverage.counts[SLOW] += params["walks"] - number
                break
            seed = f"wire/{params['seed']}/{params['number']}/{number}"
            drawn = system.on_tour(params["number"] * params["walks"] + number, params["steps"])
            draw = within(drawn, reach, coverage.counts)
            here, since = root / f"{number}", time.monotonic()
            one = random_walk(draw, seed, params["steps"], here, coverage=coverage, system=system)
            remove(here)
            seconds += one.seconds
            steps += len(one.records)
            if one.failed:
                tries = int(min(_TRIES, max(_SHRINKING_S / max(time.monotonic() - since, 1e-3), 3)))
                failed.append(_failure(one.records, aim, session, params, tries=tries))
                break
    coverage.counts["actions"] += steps
    figures = {"walked_actions_per_s": round(steps / seconds, 1)} if seconds else {}
    return _result("conformance", params, coverage.counts, failed, figures)


@contextlib.contextmanager
def _at_work(aim: Aim, params: Mapping[str, Any], failed: list[Failure]) -> Iterator[tuple[Session, Path]]:
    """A session and a place for stores. A target that can't even be greeted is a failure, not ours."""
    session = Session(aim.command)
    try:
        with replay.workspace() as root:
            yield session, root
    except TargetFaultError as fault:
        failed.append(broken_down(fault, params))
    finally:
        session.close()


def _reach_of(aim: Aim, session: Session, root: Path) -> Reach:
    target = session.target(root / "greeted")
    target.close()
    return Reach(target.greeting.capabilities, aim.policy)


def broken_down(fault: TargetFaultError, params: Mapping[str, Any]) -> Failure:
    """For a conversation that broke down outside of any action."""
    why = f"seed {params['seed']} ({params['profile']})"
    seen = {"seed": params["seed"], "profile": params["profile"], "clause": CLAUSES[fault.kind]}
    trace = Trace(f"target-{fault.kind.replace(' ', '-')}", why, (), versions=versions(), **seen)
    return Failure(of_target(trace.to_json(), params), f"the target {fault}", CLAUSES[fault.kind], REPRODUCE)


def _failure(
    records: tuple[StepRecord, ...],
    aim: Aim,
    session: Session,
    params: Mapping[str, Any],
    *,
    world: World | None = None,
    tries: int = 0,
) -> Failure:
    found = records[-1].divergence
    assert found is not None
    system = aim.system(session, Counter())
    seen = {"seed": params["seed"], "profile": params["profile"]}
    if found.kind == HUNG or world is not None:
        why = f"found by seed {seen['seed']} ({seen['profile']})"
        shown = tuple(one for one in records if not one.declined)
        trace = record(f"{found.name}-{found.kind}", why, shown, system=system, **seen)
        trace = evolve(trace, divergence={**found.to_json(), "index": len(shown) - 1})
        told = Failure(trace.to_json(), found.title, found.clause, REPRODUCE)
    else:
        told = failure(records, **seen, budget=tries, system=system)
    return evolve(told, trace=of_target(told.trace, params), reproduce=REPRODUCE)


def of_target(trace: Any, params: Mapping[str, Any]) -> Any:
    """`trace`, saying from now on that a target was asked: a replay of our own store would tell nothing."""
    return {**trace, "versions": {**trace["versions"], "target": params["command"]}}


def _result(
    phase: str,
    params: Mapping[str, Any],
    counts: Mapping[str, int],
    failed: list[Failure],
    figures: Mapping[str, float] | None = None,
) -> JobResult:
    job = Job(
        phase, "stateful_tests.wire.runners", params
    )  # `results.run_job` puts the real one in its place
    told: dict[str, JSON] = {"target": {"command": params["command"], "policy": params["policy"]}}
    return JobResult(job, dict(counts), tuple(failed), figures or {}, details=told)
