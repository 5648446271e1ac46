"""The runners behind `jobs`: each takes a job's params and returns what it saw.

A runner stops at its first failure, which it shrinks. Hypothesis is imported by `run_machine` alone.
"""

import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import model
from model import invariants, walk
from model.actions import Action
from model.outcomes import Declined, Outcome
from model.values import World
from stateful_tests import pinned, replay
from stateful_tests.coverage import Coverage
from stateful_tests.failures import failure
from stateful_tests.lockstep import Divergence, StepRecord, name_of
from stateful_tests.results import Failure, Job, JobResult
from stateful_tests.shrink import shrink
from stateful_tests.tours import touring
from stateful_tests.trace import record
from stateful_tests.walks import walk as random_walk


def run_corpus(params: Mapping[str, Any]) -> JobResult:
    """Replays pinned traces; each counts as `corpus/<name>` once it has held."""
    counts: Counter[str] = Counter()
    failed: list[Failure] = []
    for name in params["names"]:
        trace = pinned.pinned(name)
        result = replay.replay(trace, judge=invariants.check)
        counts[f"corpus/{name}"] += 1
        counts["actions"] += len(result.records)
        if result.status != "fixed":
            found = result.divergence
            told = record(name, trace.why, result.records, seed=params["seed"], profile=params["profile"])
            clause = found.clause if found is not None else "pinned expectation"
            title = f"pinned trace {name} {result.status}: {result.sentence}"
            failed.append(Failure(told.to_json(), title, clause, "holdtrue replay TRACE"))
    return _result("corpus", params, counts, failed)


def run_walks(params: Mapping[str, Any]) -> JobResult:
    """Random walks of model and store in lockstep, with tours among them."""
    coverage = Coverage()
    seconds, steps = 0.0, 0
    failed: list[Failure] = []
    with replay.workspace() as root:
        for number in range(params["walks"]):
            seed = f"walk/{params['seed']}/{params['number']}/{number}"
            first = (params["number"] * params["walks"] + number) * 3
            draw = touring(walk.draw, first, params["steps"] // 3)
            one = random_walk(draw, seed, params["steps"], root / f"{number}", coverage=coverage)
            seconds += one.seconds
            steps += len(one.records)
            if one.failed:
                told = failure(one.records, seed=params["seed"], profile=params["profile"])
                failed.append(told)
                break
    coverage.counts["actions"] += steps
    figures = {"walked_actions_per_s": round(steps / seconds, 1)} if seconds else {}
    return _result("conformance", params, coverage.counts, failed, figures)


def run_machine(params: Mapping[str, Any]) -> JobResult:
    """The Hypothesis machine."""
    from stateful_tests import machine

    started = time.perf_counter()
    seed = params["seed"] * 1_000 + params["number"]
    seen = machine.run(seed, examples=params["examples"], steps=params["steps"])
    seconds = time.perf_counter() - started
    failed = []
    if seen.failing:
        failed.append(failure(seen.failing, seed=params["seed"], profile=params["profile"]))
    seen.coverage.counts["actions"] += seen.steps
    seen.coverage.counts["examples"] += seen.examples
    figures = {"hypothesis_actions_per_s": round(seen.steps / seconds, 1)}
    return _result("conformance", params, seen.coverage.counts, failed, figures)


def run_rates(params: Mapping[str, Any]) -> JobResult:
    """Checked actions against bare ones, in the same run."""
    from stateful_tests import rates

    figures = rates.measure(params["seed"], rounds=params["rounds"])
    return _result("conformance", params, Counter(), (), figures)


def run_invariants(params: Mapping[str, Any]) -> JobResult:
    """Walks of the model alone: every invariant after every step, and which of them were put to the test."""
    counts: Counter[str] = Counter()
    failed: list[Failure] = []
    for number in range(params["walks"]):
        seed = f"model/{params['seed']}/{params['number']}/{number}"
        taken, violated = _model_walk(seed, params["steps"], counts)
        if violated:
            failed.append(_violation(taken, violated[0], params))
            break
    return _result("invariants", params, counts, failed)


def _model_walk(seed: str, steps: int, counts: Counter[str]) -> tuple[list[Action], tuple[str, ...]]:
    rng = random.Random(seed)
    world = model.initial_world()
    taken: list[Action] = []
    checked = 0
    violated: tuple[str, ...] = ()
    for _ in range(steps):
        action = walk.draw(rng, world)
        after, outcome = model.step(world, action)
        if isinstance(outcome, Declined):
            continue
        taken.append(action)
        checked += 1
        violated = invariants.check(world, action, outcome, after)
        for name in invariants.witnessed(world, action, outcome, after):
            counts[f"witness/{name}"] += 1
        if violated:
            break
        world = after
    counts["actions"] += checked
    for each in invariants.INVARIANTS:
        counts[f"invariant/{each.id}"] += checked
    return taken, violated


def _violation(taken: Sequence[Action], violated: str, params: Mapping[str, Any]) -> Failure:
    """The model breaks its own rule: the shortest story found, without a store."""

    def fails(actions: Sequence[Action]) -> bool:
        seen = _model_records(actions)
        last = seen[-1].divergence if seen else None
        return last is not None and last.clause == violated

    records = _model_records(shrink(taken, fails).actions)
    why = f"the model breaks its own invariant; found by seed {params['seed']} ({params['profile']})"
    told = record(f"model-{violated}", why, records, seed=params["seed"], profile=params["profile"])
    return Failure(told.to_json(), f"the model violates {violated}", violated, "holdtrue replay TRACE")


def _model_records(actions: Sequence[Action]) -> list[StepRecord]:
    world: World = model.initial_world()
    records: list[StepRecord] = []
    for index, action in enumerate(actions):
        outcome: Outcome
        after, outcome = model.step(world, action)
        violated = () if isinstance(outcome, Declined) else invariants.check(world, action, outcome, after)
        found = Divergence(index, "invariant", violated[0], name_of(action)) if violated else None
        records.append(StepRecord(index, action, outcome, None, found))
        if found is not None:
            break
        world = after
    return records


def _result(
    phase: str,
    params: Mapping[str, Any],
    counts: Mapping[str, int],
    failed: Sequence[Failure],
    figures: Mapping[str, float] | None = None,
) -> JobResult:
    job = Job(phase, "stateful_tests.runners", params)  # `results.run_job` puts the real one in its place
    return JobResult(job, counts, tuple(failed), figures or {})
