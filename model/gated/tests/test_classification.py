"""The table of what to do with an operation that stopped half-way, row by row and all of it at once."""

from itertools import product

import pytest

from model.gated.classification import Durable, Verdict, classify

HASH = "a" * 64
ALL = frozenset({"r1", "r2"})
SOME = frozenset({"r1"})


@pytest.mark.parametrize(
    ("durable", "verdict"),
    [
        (Durable(compensator_failed=True), "in_doubt"),
        (Durable(compensator_failed=True, completed=True), "in_doubt"),
        (Durable(completed=True), "ignore"),
        (Durable(completed=True, prepared=True), "ignore"),
        (Durable(prepared=True), "in_doubt"),
        (Durable(prepared=True, started=True, required_receipts=ALL, receipts=ALL), "in_doubt"),
        (
            Durable(
                prepared=True, prepared_state_hash=HASH, started=True, required_receipts=ALL, receipts=ALL
            ),
            "resume",
        ),
        (Durable(prepared=True, prepared_state_hash=HASH, started=True), "resume"),
        (Durable(prepared=True, prepared_state_hash=HASH), "rollback"),
        (Durable(prepared=True, prepared_state_hash=HASH, lease_expired=True), "rollback"),
        (
            Durable(
                prepared=True, prepared_state_hash=HASH, started=True, required_receipts=ALL, receipts=SOME
            ),
            "in_doubt",
        ),
        (Durable(lease_expired=True), "rollback"),
        (Durable(lease_expired=True, started=True), "in_doubt"),
        (Durable(lease_expired=True, receipts=SOME), "in_doubt"),
        (Durable(), "resume"),
        (Durable(started=True), "in_doubt"),
        (Durable(receipts=SOME), "in_doubt"),
        (Durable(started=True, receipts=ALL, required_receipts=ALL), "in_doubt"),
    ],
)
def test_a_row_of_the_table(durable: Durable, verdict: Verdict) -> None:
    assert classify(durable) == verdict


def rows(durable: Durable) -> Verdict:
    """The table once more, as it is written."""
    has_all = durable.required_receipts <= durable.receipts
    nothing = not durable.prepared and not durable.started and not durable.receipts
    table: list[tuple[bool, Verdict]] = [
        (durable.compensator_failed, "in_doubt"),
        (durable.completed, "ignore"),
        (durable.prepared and durable.prepared_state_hash is None, "in_doubt"),
        (durable.prepared and durable.started and has_all, "resume"),
        (durable.prepared and not durable.started, "rollback"),
        (durable.prepared and durable.started and not has_all, "in_doubt"),
        (durable.lease_expired and not durable.started and not durable.receipts, "rollback"),
        (nothing and not durable.lease_expired, "resume"),
        (True, "in_doubt"),
    ]
    return next(verdict for holds, verdict in table if holds)


def test_rows_are_tried_from_top_to_bottom() -> None:
    seen = set()
    flags = (False, True)
    for failed, completed, prepared, known, started, expired in product(flags, repeat=6):
        for required, receipts in product((frozenset[str](), SOME, ALL), repeat=2):
            durable = Durable(
                failed, completed, prepared, HASH if known else None, started, required, receipts, expired
            )
            assert classify(durable) == rows(durable), durable
            seen.add(classify(durable))
    assert seen == {"in_doubt", "ignore", "resume", "rollback"}
