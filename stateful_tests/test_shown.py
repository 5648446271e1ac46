"""An authority that is shown something else than it must be is seen, though no file and no answer tells."""

from pathlib import Path
from typing import Any

import pytest

from impl.transaction import _Transaction
from impl.work import Work
from stateful_tests.lockstep import Lockstep
from stateful_tests.pair import Divergence
from stateful_tests.stories import committed, opened, reserve, snapshot
from stateful_tests.target import StoreTarget

SHOWN = _Transaction._shown


def found(directory: Path) -> tuple[int, Divergence] | None:
    """Where a story of a few calls differs first."""
    with StoreTarget(directory) as target:
        pair = Lockstep(target)
        story = [*opened(), *committed(1), reserve(2), snapshot()]
        for number, action in enumerate(story):
            divergence = pair.step(action).divergence
            if divergence is not None:
                return number, divergence
    return None


def test_an_authority_that_is_shown_what_it_must_be_differs_nowhere(tmp_path: Path) -> None:
    assert found(tmp_path / "store") is None


def nothing_of_a_stored_row(self: _Transaction, work: Work) -> Any:
    shown = SHOWN(self, work)
    return None if self.plan.subject in work.rows else shown


def the_row_before(self: _Transaction, work: Work) -> Any:
    row = work.base.state.reservations.get(self.plan.subject or "")
    return SHOWN(self, work) if row is None else row.reservation


def no_proposal(self: _Transaction, work: Work) -> Any:
    return None if self.plan.subject not in work.rows else SHOWN(self, work)


@pytest.mark.parametrize("wrong", [nothing_of_a_stored_row, the_row_before, no_proposal])
def test_a_store_that_shows_something_else_is_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wrong: Any
) -> None:
    monkeypatch.setattr(_Transaction, "_shown", wrong)
    seen = found(tmp_path / "store")
    assert seen is not None
    assert seen[1].kind == "shown"
    assert seen[1].differences[0].path.startswith("authorize[")


def test_a_store_that_names_another_operation_is_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plain = Work.authorize
    monkeypatch.setattr(
        Work, "authorize", lambda self, context, _, reservation: plain(self, context, "snapshot", reservation)
    )
    seen = found(tmp_path / "store")
    assert seen is not None
    assert seen[1].kind == "shown"
