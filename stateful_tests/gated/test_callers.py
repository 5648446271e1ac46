"""How a store calls its callers' functions is seen, where no file and no answer shows it."""

from typing import Any

import pytest

from impl.gated import transaction
from impl.gated.gate import pass_gate
from stateful_tests import replay
from stateful_tests.gated.stories import gate, opened, put
from stateful_tests.system import system_named

SYSTEM = system_named("ledger")
STORY = [opened(), gate(True, "k1"), gate(True, "k1"), put("k1", intent="another")]


def seen(actions: list[Any]) -> tuple[int, str] | None:
    """At which action something differed, and how."""
    found = replay.run(actions, system=SYSTEM)[-1].divergence
    return None if found is None else (found.index, str(found.differences))


def test_a_store_that_calls_them_as_it_should_differs_nowhere() -> None:
    assert seen(STORY) is None


def test_a_verifier_that_is_shown_the_state_before_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = transaction._verify
    monkeypatch.setattr(transaction, "_verify", lambda request, _: plain(request, "{}"))
    found = seen(STORY)
    assert found is not None
    assert found[0] == 1
    assert "the verifier was shown {}, and mutate returned something else" in found[1]


@pytest.mark.parametrize("again", [STORY[2], STORY[3]])
def test_a_mutation_of_a_known_key_is_seen(monkeypatch: pytest.MonkeyPatch, again: Any) -> None:
    def eager(deps: Any, request: Any, key: Any, answer: Any, stage: Any) -> Any:
        def after_all(handle: Any, known: Any) -> Any:
            request.mutate({})
            return answer(handle, known)

        return pass_gate(deps, request, key, after_all, stage)

    monkeypatch.setattr(transaction, "pass_gate", eager)
    found = seen([*STORY[:2], again])
    assert found is not None
    assert found[0] == 2
    assert "mutate was called, though the key was known" in found[1]


def test_a_mutation_that_is_called_twice_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(deps: Any, request: Any, key: Any, answer: Any, stage: Any) -> Any:
        def staged(handle: Any) -> Any:
            stage(handle)
            return stage(handle)

        return pass_gate(deps, request, key, answer, staged)

    monkeypatch.setattr(transaction, "pass_gate", twice)
    found = seen([opened(), put("k1")])
    assert found is not None
    assert found[0] == 1
    assert "mutate was called twice for one request" in found[1]
