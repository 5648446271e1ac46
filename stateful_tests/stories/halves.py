"""Guards that look at all of it: whole bindings, all rows that hold a slot, all that are due, newer epochs.

Planted faults that look at half got past all other stories.
"""

from typing import Any

from attrs import evolve

from model.actions import Admit, Call, Close, Raises
from model.values import JSON
from stateful_tests.stories import (
    DOMAIN,
    PROJECT,
    Step,
    Story,
    admit,
    at,
    commit,
    committed,
    force,
    later,
    lease,
    maximum,
    on,
    opened,
    proof,
    reserve,
    row,
    run,
    says,
    snapshot,
    story,
)

_CONFLICT = "ADMISSION_BINDING_CONFLICT"
_REVOKED = "AUTHORITY_REVOKED"
_PROJECT = "b0000000-0000-4000-8000-000000000002"
_DOMAIN = "d0000000-0000-4000-8000-000000000002"


def _in(asked: Call, **where: JSON) -> Call:
    """The same call under another project or domain."""
    arguments: dict[str, Any] = {**asked.arguments, **where}
    return evolve(asked, arguments=arguments)


def _about(**said: JSON) -> dict[str, JSON]:
    """What a project says of reservation 1 and run 1."""
    names: dict[str, JSON] = {
        "reservationId": row(1),
        "projectId": PROJECT,
        "projectControlDomainId": DOMAIN,
        "runId": run(1),
    }
    return {**names, "runVersion": 1, **said}


def _taken_over() -> list[Step]:
    """A host of epoch 2 takes over."""
    return [Close("h1"), *opened(2, host="h2", epoch=2)]


STORIES: tuple[Story, ...] = (
    story(
        "reserve-under-another-project",
        "reserve: the binding is project, control domain and run, not the run alone",
        opened(2),
        reserve(1),
        (_CONFLICT, _in(reserve(1), projectId=_PROJECT)),
        (_CONFLICT, _in(reserve(1), projectControlDomainId=_DOMAIN)),
        reserve(1),
    ),
    story(
        "two-projects-with-runs-of-one-id",
        "S8 is about bindings: runs of the same id in two projects hold a slot each",
        opened(2),
        committed(1, 1),
        _in(reserve(2, of=1), projectId=_PROJECT),
        Admit(row(2), _PROJECT, DOMAIN, run(1)),
        commit(2, 2),
    ),
    story(
        "admission-by-another-project",
        "commit: the proof must name this project and this control domain, too",
        opened(2),
        reserve(1),
        admit(1),
        *(
            (_CONFLICT, commit(1, 1, at("read_admission", says(_about(projectAdmitCommitSeq=1, **other)))))
            for other in ({"projectId": _PROJECT}, {"projectControlDomainId": _DOMAIN})
        ),
        commit(1, 1),
    ),
    story(
        "abandonment-by-another-project",
        "the sweep: an abandonment must name this project and this control domain, too",
        opened(2),
        reserve(1, ttl=1_000),
        later(1_000),
        *(
            snapshot(
                at(
                    "abandon_admission_if_absent",
                    says(_about(status="abandoned", abandonmentCommitSeq=1, **other)),
                )
            )
            for other in ({"projectId": _PROJECT}, {"projectControlDomainId": _DOMAIN})
        ),
        snapshot(),
    ),
    story(
        "release-proof-of-another-project",
        "normalRelease: the proof must name this project and this control domain, too",
        opened(2),
        committed(1, 1),
        *(
            ("RECONCILE_REQUIRED", on("normalRelease", 1, at("read_release", says(proof(1, 1, **other)))))
            for other in ({"projectId": _PROJECT}, {"projectControlDomainId": _DOMAIN})
        ),
        on("normalRelease", 1, at("read_release", says(proof(1, 1)))),
    ),
    story(
        "orphan-suspect-holds-its-slot",
        "slots held: reserved, committed and orphan-suspect rows",
        opened(1),
        committed(1, 1),
        on("markOrphanSuspect", 1),
        ("CAPACITY_EXCEEDED", reserve(2)),
        snapshot(),
    ),
    story(
        "three-due-at-once",
        "the sweep judges every due row",
        opened(3),
        *(reserve(n, ttl=1_000) for n in (1, 2, 3)),
        later(1_000),
        snapshot(),
    ),
    story(
        "maximum-lowered-over-due-rows",
        "setMaxActiveRuns: compared with the slots that are held after the sweep",
        opened(2),
        *(reserve(n, ttl=1_000) for n in (1, 2)),
        later(1_000),
        maximum(1, 1),
    ),
    story(
        "known-command-under-a-lost-lease",
        "step 5 comes before what a known command answers",
        opened(2),
        maximum(3, 1),
        lease("h2", 1),
        (_REVOKED, maximum(2, 1)),
    ),
    story(
        "forced-by-a-newer-host",
        "forceRelease writes the epoch of the host that carries it out",
        opened(2),
        reserve(1),
        _taken_over(),
        evolve(force(1, 1), host="h2"),
    ),
    story(
        "late-values-at-a-newer-host",
        "commit: values bound later bear the epoch of the host that binds them",
        opened(2),
        committed(1, 1),
        _taken_over(),
        commit(1, 1, host="h2", attemptId=run(9)),
    ),
    story(
        "renewed-and-suspected-at-a-newer-host",
        "renew and markOrphanSuspect write the epoch of the host that carries them out",
        opened(2),
        committed(1, 1),
        reserve(2),
        _taken_over(),
        on("renew", 2, host="h2", ttlMs=1_000),
        on("markOrphanSuspect", 1, host="h2"),
    ),
    story(
        "clock-that-rises-where-a-project-fails-and-falls-again",
        "the sweep: after a row's calls the clock is looked at, where they fail, too",
        opened(2),
        *(reserve(n, ttl=1_000) for n in (1, 2)),
        later(1_000),
        (
            _REVOKED,
            snapshot(
                at("abandon_admission_if_absent", later(5)),
                at("abandon_admission_if_absent", Raises()),
                at("read_admission", later(-5), 2),
            ),
        ),
        later(5),
        snapshot(),
    ),
    story(
        "swept-by-a-newer-host",
        "the sweep: a row that it commits bears the epoch of the host that sweeps",
        opened(2),
        reserve(1, ttl=1_000),
        admit(1),
        _taken_over(),
        later(1_000),
        snapshot(host="h2"),
    ),
)
