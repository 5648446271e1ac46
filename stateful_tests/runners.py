"""The runners behind `jobs`: each takes a job's params and returns what it saw.

A runner stops at its first failure, which it shrinks. Hypothesis is imported by `run_machine` alone.
"""

import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stateful_tests import pinned, replay
from stateful_tests.failures import failure
from stateful_tests.pair import Divergence, StepRecord
from stateful_tests.results import Failure, Job, JobResult
from stateful_tests.shrink import shrink
from stateful_tests.system import COORDINATOR, System, system_named
from stateful_tests.trace import record
from stateful_tests.walks import walk as random_walk


def run_corpus(params: Mapping[str, Any]) -> JobResult:
    """Replays pinned traces; each counts as `corpus/<name>` once it has held."""
    counts: Counter[str] = Counter()
    failed: list[Failure] = []
    for name in params["names"]:
        trace = pinned.pinned(name)
        system = system_named(trace.system)
        result = replay.replay(trace, judge=system.judge)
        counts[f"corpus/{name}"] += 1
        counts["actions"] += len(result.records)
        if result.status != "fixed":
            found = result.divergence
            seen = {"seed": params["seed"], "profile": params["profile"]}
            told = record(name, trace.why, result.records, system=system, **seen)
            clause = found.clause if found is not None else "pinned expectation"
            title = f"pinned trace {name} {result.status}: {result.sentence}"
            failed.append(Failure(told.to_json(), title, clause, "holdtrue replay TRACE"))
    return _result("corpus", params, counts, failed)


def run_walks(params: Mapping[str, Any]) -> JobResult:
    """Random walks of model and store in lockstep, with tours among them."""
    system = _system(params)
    coverage = system.coverage()
    seconds, steps = 0.0, 0
    failed: list[Failure] = []
    with replay.workspace() as root:
        for number in range(params["walks"]):
            seed = f"walk/{params['seed']}/{params['number']}/{number}"
            draw = system.on_tour(params["number"] * params["walks"] + number, params["steps"])
            here = root / f"{number}"
            one = random_walk(draw, seed, params["steps"], here, coverage=coverage, system=system)
            shutil.rmtree(here, ignore_errors=True)
            seconds += one.seconds
            steps += len(one.records)
            if one.failed:
                told = failure(one.records, seed=params["seed"], profile=params["profile"], system=system)
                failed.append(told)
                break
    coverage.counts[f"{system.prefix}actions"] += steps
    figures = {f"{system.prefix}walked_actions_per_s": round(steps / seconds, 1)} if seconds else {}
    return _result("conformance", params, coverage.counts, failed, figures)


def run_machine(params: Mapping[str, Any]) -> JobResult:
    """The Hypothesis machine."""
    from stateful_tests import machine, rules
    from stateful_tests.gated.rules import LedgerMachine

    system = _system(params)
    started = time.perf_counter()
    seed = params["seed"] * 1_000 + params["number"]
    used = rules.StoreMachine if system.name == COORDINATOR else LedgerMachine
    seen = machine.run(seed, examples=params["examples"], steps=params["steps"], rules=used)
    seconds = time.perf_counter() - started
    failed = []
    if seen.failing:
        told = failure(seen.failing, seed=params["seed"], profile=params["profile"], system=system)
        failed.append(told)
    counts, prefix = seen.coverage.counts, system.prefix
    counts[f"{prefix}actions"] += seen.steps
    counts[f"{prefix}examples"] += seen.examples
    figures = {f"{prefix}hypothesis_actions_per_s": round(seen.steps / seconds, 1)}
    return _result("conformance", params, counts, failed, figures)


def run_rates(params: Mapping[str, Any]) -> JobResult:
    """Checked actions against bare ones, in the same run."""
    from stateful_tests import rates

    return _measured(params, rates.measure)


def run_wire_rates(params: Mapping[str, Any]) -> JobResult:
    """Checked actions over the wire against checked actions in process, in the same run."""
    from stateful_tests.wire import rates

    return _measured(params, rates.measure)


def _measured(params: Mapping[str, Any], measure: Callable[..., Mapping[str, float]]) -> JobResult:
    """Figures; of a broken store there is nothing to measure: that is a failure found."""
    from stateful_tests.rates import FoundError

    try:
        figures = measure(params["seed"], rounds=params["rounds"])
    except FoundError as found:
        told = failure(found.records, seed=params["seed"], profile=params["profile"])
        return _result("conformance", params, Counter(), (told,))
    return _result("conformance", params, Counter(), (), figures)


def run_invariants(params: Mapping[str, Any]) -> JobResult:
    """Walks of the model alone: every invariant after every step, and which of them were put to the test."""
    system = _system(params)
    counts: Counter[str] = Counter()
    failed: list[Failure] = []
    for number in range(params["walks"]):
        seed = f"model/{params['seed']}/{params['number']}/{number}"
        taken, violated = _model_walk(system, seed, params["steps"], counts)
        if violated:
            failed.append(_violation(system, taken, violated[0], params))
            break
    return _result("invariants", params, counts, failed)


def _system(params: Mapping[str, Any]) -> System:
    return system_named(params.get("system", COORDINATOR))


def _model_walk(
    system: System, seed: str, steps: int, counts: Counter[str]
) -> tuple[list[Any], tuple[str, ...]]:
    rng = random.Random(seed)
    world, prefix = system.initial({}), system.prefix
    taken: list[Any] = []
    checked = 0
    violated: tuple[str, ...] = ()
    for _ in range(steps):
        action = system.draw(rng, world)
        after, outcome = system.step(world, action)
        if system.declined(outcome):
            continue
        taken.append(action)
        checked += 1
        violated = system.judge(world, action, outcome, after)
        for name in system.witnessed(world, action, outcome, after):
            counts[f"{prefix}witness/{name}"] += 1
        if violated:
            break
        world = after
    counts[f"{prefix}actions"] += checked
    for name in system.invariants:
        counts[f"{prefix}invariant/{name}"] += checked
    return taken, violated


def _violation(system: System, taken: Sequence[Any], violated: str, params: Mapping[str, Any]) -> Failure:
    """The model breaks its own rule: the shortest story found, without a store."""

    def fails(actions: Sequence[Any]) -> bool:
        seen = _model_records(system, actions)
        last = seen[-1].divergence if seen else None
        return last is not None and last.clause == violated

    records = _model_records(system, shrink(taken, fails, system=system).actions)
    why = f"the model breaks its own invariant; found by seed {params['seed']} ({params['profile']})"
    told = record(
        f"model-{violated}", why, records, seed=params["seed"], profile=params["profile"], system=system
    )
    return Failure(told.to_json(), f"the model violates {violated}", violated, "holdtrue replay TRACE")


def _model_records(system: System, actions: Sequence[Any]) -> list[StepRecord]:
    world = system.initial({})
    records: list[StepRecord] = []
    for index, action in enumerate(actions):
        after, outcome = system.step(world, action)
        declined = system.declined(outcome)
        violated = () if declined else system.judge(world, action, outcome, after)
        name = system.name_of(action)
        found = Divergence(index, "invariant", violated[0], name) if violated else None
        records.append(StepRecord(index, action, outcome, None, found, declined=declined))
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
