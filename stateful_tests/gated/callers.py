"""What callers hand to the ledger: requests whose `mutate` and `verify` do what the action's JSON says.

They keep account of how they are called, since no comparison of files can see that: `mutate` once at most,
and never for a key that is known; `verify` with what `mutate` returned, which is what would be committed.

Doesn't: judge what came of a call. The model does.
"""

import copy
from collections.abc import Mapping
from typing import Any

from attrs import define

from impl import gated as store
from model.gated.actions import Transact
from model.values import JSON
from stateful_tests.gated.results import Answered, Crashed, Refusal, Result


class CallerError(Exception):
    """What a caller's own function raises: `mutation` or `step`."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"the caller's own {kind} raised")
        self.kind = kind


class MisledError(Exception):
    """A caller's function was called as it never may be."""


@define
class Caller:
    """Who asks for `action`, once."""

    action: Transact
    mutations: int = 0
    returned: Any = None

    def request(self) -> store.Request:
        """Raises what the store raises for a request that can't be made."""
        action = self.action
        return store.Request(
            operation_id=action.operation_id,
            run_id=action.run_id,
            node_id=action.node_id,
            event_type=action.event_type,
            phase=action.phase,
            idempotency_key=action.idempotency_key,
            intent=action.intent,
            mutate=self.mutate,
            attempt_id=action.attempt_id,
            verify=None if action.verifier is None else self.verify,
        )

    def mutate(self, before: dict[str, JSON]) -> Any:
        self.mutations += 1
        if self.mutations > 1:
            raise MisledError("mutate was called twice for one request")
        after = _mutated(self.action.mutation, before)
        self.returned = copy.deepcopy(after)
        return after

    def verify(self, staged: object) -> bool:
        if staged != self.returned:
            raise MisledError(f"the verifier was shown {staged!r:.200}, and mutate returned something else")
        if self.action.verifier == "raises":
            raise CallerError("mutation")
        return self.action.verifier is True

    def judged(self, result: Result) -> Result:
        """`result`, unless the request's functions should not have been called for it."""
        known = isinstance(result, Refusal) and result.code == "IDEMPOTENCY_CONFLICT"
        if isinstance(result, Answered) and isinstance(result.value, Mapping):
            known = result.value.get("status") == "noop"
        if known and self.mutations:
            return Crashed("mutate was called, though the key was known")
        return result


def _mutated(mutation: Mapping[str, Any], before: dict[str, JSON]) -> Any:
    """What the action says that `mutate` returns. It changes its copy in place, which must change nothing."""
    if "garbage" in mutation:
        before.clear()
        return mutation["garbage"]
    if "raises" in mutation:
        before["never"] = "seen"
        raise CallerError("mutation")
    if "increment" in mutation:
        count = before.get(mutation["increment"], 0)
        if type(count) is not int:
            raise CallerError("mutation")
        before[mutation["increment"]] = count + 1
    before.update(mutation.get("set", {}))
    for name in mutation.get("remove", ()):
        before.pop(name, None)
    return before
