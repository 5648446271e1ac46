"""The recovery table: each row, the order of rows, and every situation at once."""

from itertools import product
from typing import Any

import pytest

from impl.gated import Durable, classify

PREPARED: dict[str, Any] = {"prepared": True, "prepared_state_hash": "ab" * 32}
NEEDS: dict[str, Any] = {"required_receipts": {"r1", "r2"}}


@pytest.mark.parametrize(
    ("durable", "action"),
    [
        (Durable(compensator_failed=True), "in_doubt"),
        (Durable(compensator_failed=True, completed=True), "in_doubt"),
        (Durable(completed=True), "ignore"),
        (Durable(completed=True, prepared=True), "ignore"),
        (Durable(prepared=True), "in_doubt"),
        (Durable(prepared=True, started=True, **NEEDS, receipts={"r1", "r2"}), "in_doubt"),
        (Durable(**PREPARED, started=True, **NEEDS, receipts={"r1", "r2", "more"}), "resume"),
        (Durable(**PREPARED, started=True), "resume"),
        (Durable(**PREPARED, started=True, lease_expired=True), "resume"),
        (Durable(**PREPARED), "rollback"),
        (Durable(**PREPARED, **NEEDS, receipts={"r1"}), "rollback"),
        (Durable(**PREPARED, started=True, **NEEDS, receipts={"r1"}), "in_doubt"),
        (Durable(**PREPARED, started=True, **NEEDS, lease_expired=True), "in_doubt"),
        (Durable(lease_expired=True), "rollback"),
        (Durable(lease_expired=True, started=True), "in_doubt"),
        (Durable(lease_expired=True, receipts={"r1"}), "in_doubt"),
        (Durable(), "resume"),
        (Durable(started=True), "in_doubt"),
        (Durable(receipts={"r1"}), "in_doubt"),
    ],
)
def test_the_table_row_by_row(durable: Durable, action: str) -> None:
    assert classify(durable) == action


def test_nothing_that_may_have_happened_is_ever_rolled_back_or_ignored() -> None:
    for prepared, started, completed, failed, expired, given in product([False, True], repeat=6):
        durable = Durable(
            prepared=prepared,
            prepared_state_hash="ab" * 32 if prepared else None,
            started=started,
            completed=completed,
            compensator_failed=failed,
            required_receipts={"r1"},
            receipts={"r1"} if given else set(),
            lease_expired=expired,
        )
        action = classify(durable)
        if started:
            assert action != "rollback", durable
        if action == "ignore":
            assert completed, durable
            assert not failed, durable
