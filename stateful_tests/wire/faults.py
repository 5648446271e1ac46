"""What can be wrong with a target's side of the conversation, told apart: hung, died, flooded, nonsense …

Each fault has its own clause, so that a report says which it was. None of them is about what the store did;
that is the comparison's business.
"""

from typing import Final

from attrs import frozen

from model.values import JSON
from stateful_tests.target import Crashed

HUNG: Final = "hung"
DIED: Final = "died"
FLOODED: Final = "flooded"
NONSENSE: Final = "nonsense"
OUT_OF_ORDER: Final = "out of order"
NOT_STARTED: Final = "not started"

CLAUSES: Final = {
    HUNG: "protocol: each request is answered in time",
    DIED: "protocol: the target lives until its input ends",
    FLOODED: "protocol: one reply to each request, of at most 16 MiB",
    NONSENSE: "protocol: a reply is one JSON object of the right shape, on one line",
    OUT_OF_ORDER: "protocol: replies come in the order of their requests",
    NOT_STARTED: "protocol: the command can be started",
}


class TargetFaultError(Exception):
    """The target broke the protocol: `kind` is a key of `CLAUSES`. Its process group has been ended."""

    def __init__(self, kind: str, told: str) -> None:
        super().__init__(f"{kind}: {told}")
        assert kind in CLAUSES
        self.kind = kind
        self.told = told


@frozen
class Broke(Crashed):
    """The result of an action during which the conversation broke down: a crash of a `kind` of its own."""

    kind: str

    def to_json(self) -> dict[str, JSON]:
        return {"crashed": f"{self.kind}: {self.text}"}
