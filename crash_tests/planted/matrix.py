"""Detection power: every planted fault is hunted by the quick checks, and what caught it is kept.

Each hunt is a job of its own (`run_hunt`), which runs `crash_tests.planted.hunt` in a fresh process, since a
fault must be in place before anything imports the store. A fault that nothing catches *survives*, unless it
is equivalent by the argument that stands beside it in its catalogue: then it is hunted all the same, and
being caught is what would be wrong.

The pinned corpus was made from stories of these very faults, so what it catches shows that it keeps what was
learned once, not that the checks would learn it again. Without it, a hunt is *blind*.
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from attrs import asdict, frozen

from crash_tests.planted import catalogue, hunt
from crash_tests.planted.gated import catalogue as gated_catalogue
from crash_tests.planted.gated import hunt as gated_hunt
from crash_tests.planted.plant import Fault
from model.values import JSON
from stateful_tests.results import Job, JobResult

PHASE: Final = "mutants"
LIMIT_S: Final = 600.0
"""A hunt that takes longer is ended, and its fault counts as survived."""

FAULTS: Final[Mapping[str, Mapping[str, Fault]]] = {
    "coordinator": catalogue.BY_ID,
    "ledger": gated_catalogue.BY_ID,
}
"""All planted faults, by system and id."""

CHECKS: Final[Mapping[str, tuple[str, ...]]] = {"coordinator": hunt.WAYS, "ledger": gated_hunt.WAYS}
"""The parts of the quick checks that may catch a fault, in the order in which they are tried."""

_MODULES: Final[Mapping[str, str]] = {
    "coordinator": "crash_tests.planted.hunt",
    "ledger": "crash_tests.planted.gated.hunt",
}


@frozen
class Hunted:
    """One fault and what came of hunting it. `by` is the check that caught it, or `None`."""

    system: str
    id: str
    sentence: str
    breaks: str
    equivalent: str
    by: str | None = None
    clause: str = ""
    title: str = ""
    actions: int = 0
    seconds: float = 0.0
    late: bool = False
    """The hunt was ended at its time limit."""

    @property
    def survived(self) -> bool:
        return self.by is None and not self.equivalent

    @property
    def refuted(self) -> bool:
        """It was caught though it is said to be equivalent: the argument is wrong, or the check is."""
        return self.by is not None and bool(self.equivalent)

    def to_json(self) -> dict[str, JSON]:
        return asdict(self)


def plan(named: Sequence[str] = (), *, blind: bool = False, seed: int = 0) -> tuple[Job, ...]:
    """One job for each fault, those in `named` or all. `ValueError` names ids that are unknown."""
    known = [(system, fault) for system, faults in FAULTS.items() for fault in faults.values()]
    unknown = sorted(set(named) - {fault.id for _, fault in known})
    if unknown:
        raise ValueError(f"no planted fault is called {', '.join(map(repr, unknown))}")
    return tuple(
        Job(
            PHASE,
            "crash_tests.planted.matrix:run_hunt",
            {"system": system, "fault": fault.id, "blind": blind, "seed": seed},
        )
        for system, fault in known
        if not named or fault.id in named
    )


def run_hunt(params: Mapping[str, Any]) -> JobResult:
    """Hunts one planted fault; `details` hold the `Hunted` as JSON."""
    system, name = str(params["system"]), str(params["fault"])
    fault = FAULTS[system][name]
    command = [sys.executable, "-m", _MODULES[system], name, "--seed", str(params["seed"])]
    if params["blind"]:
        command.append("--without-corpus")
    about = (system, name, fault.sentence, fault.breaks, fault.equivalent)
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        hunted = Hunted(*about, seconds=LIMIT_S, late=True)
        return JobResult(_job(params), details=hunted.to_json())
    if ended.returncode != 0:
        raise RuntimeError(f"the hunt for {name} ended with {ended.returncode}: {ended.stderr[-2000:]}")
    caught = json.loads(ended.stdout)
    if caught is None:
        return JobResult(_job(params), details=Hunted(*about).to_json())
    told = {key: caught[key] for key in ("by", "clause", "title", "actions", "seconds")}
    hunted = Hunted(*about, **told)
    return JobResult(_job(params), counts={f"caught/{system}/{hunted.by}": 1}, details=hunted.to_json())


def hunted_in(results: Iterable[JobResult]) -> tuple[Hunted, ...]:
    """What the jobs of `plan` have come to, in the order of the catalogues."""
    details: list[Any] = [result.details for result in results]
    found = {(one["system"], one["id"]): Hunted(**one) for one in details}
    order = [(system, name) for system, faults in FAULTS.items() for name in faults]
    return tuple(found[key] for key in order if key in found)


def _job(params: Mapping[str, Any]) -> Job:
    return Job(PHASE, "crash_tests.planted.matrix:run_hunt", dict(params))
