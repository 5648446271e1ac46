"""Alphabets of steps and compensations: every failing step, every form of request, one client and two."""

from attrs import evolve

from model.gated.drawing import OTHER
from model.gated.explorer.requests import (
    DISORDER,
    OTHERWISE,
    changed,
    steps,
    undoing,
    with_equal_ids,
    with_equal_sequences,
)
from model.gated.explorer.schemes import Request, Scheme, fails, opening, reading
from model.gated.explorer.variants import LOST, in_lines


def receipts() -> Scheme:
    """Three steps, of which one may run but once; each of their four lines fails in every way."""
    request = Request("steps", steps(True, False, True), in_lines(4), "each", "telling")
    return Scheme(1, (opening(*LOST), reading(), request))


def two_appliers() -> Scheme:
    """Two clients that apply the same two steps."""
    request = Request("steps", steps(True, False), in_lines(3), "telling")
    return Scheme(2, (opening(*LOST, deaths="telling"), request))


def orders() -> Scheme:
    """Steps in every order, those that raise, and those that nothing puts in order."""
    good = steps(False, True)
    requests = [
        Request("steps", good, (fails("mirror"), fails("append:2")), "telling"),
        Request("steps, backwards", steps(False, True, backwards=True), deaths="none"),
        Request("steps, raising before", steps(True, False, raises="before"), deaths="none"),
        Request("steps, raising after", steps(False, True, raises="after"), deaths="telling"),
        Request("no steps", steps(), deaths="none"),
    ]
    for name, made in DISORDER.items():
        requests.append(Request(f"steps, {name}", made(good), deaths="none"))
    return Scheme(1, (opening(deaths="telling"), *requests))


def otherwise() -> Scheme:
    """The same steps asked for in another way, and in another run."""
    good = steps(False, True)
    requests = [
        Request("steps", good, (fails("mirror"), fails("append:2")), deaths="none"),
        Request("steps, of another run", steps(True, run="another"), deaths="none"),
    ]
    for name, made in OTHERWISE.items():
        requests.append(Request(f"steps, {name}", made(good), deaths="none"))
    return Scheme(1, (opening(deaths="none"), *requests))


def compensation() -> Scheme:
    """Three compensators, of which one is not idempotent: three lines that fail in every way."""
    request = Request("undo", undoing(True, False, True), in_lines(3), "each", "telling")
    return Scheme(1, (opening(*LOST, deaths="telling"), reading(), request))


def runs() -> Scheme:
    """The same receipt ids and compensation keys in two runs; and one that stands where a start would."""
    start = changed(steps(True), 0, receipt_id="r1:started")
    requests = (
        Request("steps", steps(False), deaths="none"),
        Request("steps, of another run", steps(False, run="another"), deaths="none"),
        Request("a receipt where a start would stand", start, deaths="none"),
        Request("undo", undoing(True), deaths="none"),
        Request("undo, of another run", undoing(True, run="another"), deaths="none"),
    )
    return Scheme(1, (opening(deaths="none"), *requests))


def killed_undoing() -> Scheme:
    """One compensator, and what its deaths leave."""
    request = Request("undo", undoing(True), (fails("mirror:2"),), "telling")
    return Scheme(1, (opening(deaths="none"), request))


def two_compensators() -> Scheme:
    """Two clients: one applies, either undoes."""
    done = Request("steps", steps(True), deaths="none")
    request = Request("undo", undoing(True), in_lines(2), "telling")
    return Scheme(2, (opening(*LOST, deaths="none"), done, request))


def compensations() -> Scheme:
    """Compensations in every form, with those that may not be, and receipts that stand in their way."""
    good = undoing(True, True)
    requests = [
        Request("undo", good, (fails("append"), fails("commit:2")), "telling"),
        Request("undo, raising before", undoing(True, True, raises="before"), deaths="none"),
        Request("undo, raising after", undoing(True, True, raises="after"), (fails("append"),), "telling"),
        Request("undo, other content", evolve(good, after_state_hash=OTHER), deaths="none"),
        Request("undo, where a receipt would stand", evolve(good, idempotency_key="undo:s2"), deaths="none"),
        Request("undo, applied for good", undoing(False, True), deaths="none"),
        Request("undo nothing", undoing(), deaths="none"),
        Request("undo, equal ids", with_equal_ids(good), deaths="none"),
        Request("undo, equal sequences", with_equal_sequences(good), deaths="none"),
        Request("undo, no key", evolve(good, idempotency_key=""), deaths="none"),
        Request("a receipt in the way", changed(steps(True), 0, receipt_id="undo:s1"), deaths="none"),
        Request("a receipt at the start", changed(steps(True), 0, receipt_id="undo"), deaths="none"),
    ]
    return Scheme(1, (opening(deaths="telling"), *requests))
