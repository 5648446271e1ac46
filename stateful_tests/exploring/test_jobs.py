"""The phase's plan is cheap and complete; its jobs reach its floors; what is kept of a graph is the graph."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from model.explorer.facet import PROFILES, load
from model.explorer.packed import explore
from stateful_tests.exploring import charts, rate
from stateful_tests.exploring.charts import SCRATCH, charted, frozen_text, thawed
from stateful_tests.exploring.findings import told
from stateful_tests.exploring.jobs import plan_exploration
from stateful_tests.exploring.places import FACETS, facet_named, facets
from stateful_tests.results import Job, below_floor, resolve, run_job, total
from stateful_tests.system import COORDINATOR, system_named

SMALL = (COORDINATOR, "arguments")


def jobs_of(system: str, facet: str, profile: str = "quick") -> list[Job]:
    named = {"system": system, "facet": facet}
    jobs = plan_exploration(profile, 0).jobs
    return [job for job in jobs if named.items() <= job.params.items() and "profile" in job.params]


@pytest.mark.parametrize("profile", PROFILES)
def test_every_job_of_the_plan_can_be_found_and_every_floor_is_some_jobs_business(profile: str) -> None:
    plan = plan_exploration(profile, 0)
    for job in plan.jobs:
        assert callable(resolve(job.runner))
    assert plan.floors
    for system in FACETS:
        prefix = system_named(system).prefix
        for facet in facets(system):
            parts = facet.toured.get(profile, 0)
            assert plan.floors.get(f"{prefix}toured/{facet.name}", 0) == parts
            assert (f"{prefix}explored/{facet.name}" in plan.floors) == (profile in facet.explored)


@pytest.mark.parametrize("system", FACETS)
def test_from_ci_on_a_facet_that_is_toured_at_all_is_toured_whole_by_each_profile_that_has_it(
    system: str,
) -> None:
    for facet in facets(system):
        for profile in ("ci", "deep"):
            if facet.toured and profile in facet.explored:
                assert facet.toured.get(profile, 0) > 0, facet.name
                assert profile not in facet.depth, facet.name
        assert set(facet.toured) <= set(facet.explored), "toured means explored with its properties as well"


def test_planning_loads_no_explorer() -> None:
    asked = (
        "import sys; from stateful_tests.exploring.jobs import plan_exploration; plan_exploration('ci', 0);"
    )
    asked += "print(sorted({'numpy', 'networkx', 'hypothesis', 'impl'} & set(sys.modules)))"
    ended = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() in ("[]", "['impl']"), ended.stdout


def test_the_jobs_of_a_small_facet_reach_its_floors() -> None:
    results = [run_job(job) for job in jobs_of(*SMALL)]
    assert len(results) == 2
    assert [result.failures for result in results] == [(), ()]
    floors = {
        key: floor
        for key, floor in plan_exploration("quick", 0).floors.items()
        if key.endswith(f"/{SMALL[1]}")
    }
    assert len(floors) == 2
    assert below_floor(total(results), floors) == ()
    spaces: Any = [told for result in results for told in result.details["explorations"]]  # type: ignore[union-attr]
    (tours,) = [told["tours"] for told in spaces if "tours" in told]
    assert tours["taken"] == tours["transitions"] > 0


def test_a_tour_that_is_cut_short_misses_its_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    from stateful_tests.exploring import route

    job = next(job for job in jobs_of(*SMALL) if job.runner.endswith("run_tour"))
    monkeypatch.setattr(route.Part, "wanted", lambda *_: iter(()))
    assert run_job(job).counts[f"toured/{SMALL[1]}"] == 0


def test_in_a_run_a_facet_is_explored_once_and_read_by_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SCRATCH, str(tmp_path))
    charted.cache_clear()
    first = charted(*SMALL)
    charted.cache_clear()
    monkeypatch.setattr(charts, "explored", lambda *_: pytest.fail("explored a second time"))
    second = charted(*SMALL)
    charted.cache_clear()
    for name in ("source", "label", "outcome", "target", "depth", "parent", "positions"):
        assert np.array_equal(getattr(first.chart.graph, name), getattr(second.chart.graph, name))
    assert list(first.chart.graph.states) == list(second.chart.graph.states)
    assert first.found == second.found
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        "explored-coordinator-arguments.lock",
        "explored-coordinator-arguments.pickle",
    ]


def test_a_thawed_graph_locates_every_state_where_it_was() -> None:
    one = charted(COORDINATOR, "capacity")
    again = thawed(COORDINATOR, "capacity", frozen_text(one))
    for node, state in enumerate(one.chart.graph.states):
        turned = type(state)(state.shared, tuple(reversed(state.slots)))
        assert again.chart.graph.locate(state)[0] == node
        assert again.chart.graph.locate(turned) == one.chart.graph.locate(turned)


def test_a_rule_that_can_never_happen_leaves_a_facet_inconclusive() -> None:
    facet = facet_named(*SMALL)
    seen = explore(load(facet.space)(), reduce=True)
    whole = told(COORDINATOR, facet, seen, {})
    assert (whole["verdict"], whole["reason"], whole["dead_rules"]) == ("holds", "", [])
    idle = told(COORDINATOR, facet, evolve(seen, dead=("open @h9",)), {})
    assert (idle["verdict"], idle["reason"]) == ("inconclusive", "never could happen: open @h9")
    cut = told(COORDINATOR, facet, evolve(seen, complete=False, reason="time is up"), {})
    assert (cut["verdict"], cut["reason"]) == ("inconclusive", "time is up")


def test_the_rate_is_measured_beside_the_loop() -> None:
    figures = rate.measured(*SMALL)
    assert all(figures.values())
    states, loop = (
        figures["states per CPU second, without symmetry"],
        figures["calibration loop, CPU seconds"],
    )
    assert figures["states per calibration loop"] == pytest.approx(states * loop, rel=0.02)


def test_an_unknown_facet_is_told_with_those_that_are_known() -> None:
    with pytest.raises(LookupError, match="known are core"):
        facet_named(COORDINATOR, "nonsense")
