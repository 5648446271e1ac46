"""The published protocol is the spoken one: real conversations fit the schema, message by message."""

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from model import walk
from model.actions import OPERATIONS, Admit, Call, Finish, Open, Park, Quiesce
from stateful_tests.tours import touring
from stateful_tests.wire.capabilities import EFFECTS, Capabilities, greeting_from_json
from stateful_tests.wire.conversation import CRASHED, NO_SUCH_HOST, UNKNOWN_REQUEST
from stateful_tests.wire.lockstep import WireLockstep
from stateful_tests.wire.rates import own_store
from stateful_tests.wire.reach import Reach, within
from stateful_tests.wire.serve import CAPABILITIES, WIRED
from stateful_tests.wire.target import Session

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "protocol.schema.json").read_text("utf-8"))
PAGE = (ROOT / "docs" / "protocol.md").read_text("utf-8")
OTHERS = {"hello", "begin", "observe", "armCrash"}


def schema_for(name: str) -> Draft202012Validator:
    return Draft202012Validator({**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{name}"}]})


class Heard:
    """Every message of a conversation, held against its own schema as it passes."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self._validators: dict[str, Draft202012Validator] = {}
        self._do = ""

    def __call__(self, who: str, message: dict[str, Any]) -> None:
        if who == "request":
            self._do = message["do"]
        name = f"{who}-{self._do}"
        if name not in self._validators:
            self._validators[name] = schema_for(name)
        # As it was on the wire: tuples and such are JSON by then.
        self._validators[name].validate(json.loads(json.dumps(message)))
        self.kinds[name] += 1


@pytest.fixture(scope="module")
def heard() -> Heard:
    """What was said in walks with tours, and in requests for each rare event."""
    from stateful_tests.replay import workspace

    heard = Heard()
    session = Session(own_store(), listen=heard)
    with workspace() as root:
        for number in range(6):
            target = session.target(root / f"{number}")
            pair = WireLockstep(target)
            draw = within(touring(walk.draw, 10 * number, 40), Reach(CAPABILITIES), Counter())
            rng = random.Random(f"protocol/{number}")
            for _ in range(200):
                record = pair.step(draw(rng, pair.world))
                assert record.divergence is None, record.divergence.title
        target.forget_sight()
        target.observe()
        target.arm("state-rename-before", 1)
    session.close()
    return heard


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_every_request_and_every_reply_has_a_schema_and_no_other_has() -> None:
    named = {name for name in SCHEMA["$defs"] if name.startswith(("request-", "reply-"))}
    kinds = {*WIRED, *OTHERS}
    assert named == {f"{who}-{do}" for do in kinds for who in ("request", "reply")}


def test_a_real_conversation_has_messages_of_every_kind_and_each_fits_its_schema(heard: Heard) -> None:
    assert set(heard.kinds) == {f"{who}-{do}" for do in {*WIRED, *OTHERS} for who in ("request", "reply")}


@pytest.mark.parametrize(
    "message",
    [
        {"id": 0, "do": "observe"},
        {"id": 1, "do": "observe", "extra": 1},
        {"id": 1, "do": "call", "host": "a", "context": "b"},
        {"id": 1, "do": "advanceClock", "ms": "1"},
        {"id": 1, "ok": None, "error": {"code": "A", "message": "", "side_effects": "none"}},
        {"id": 1, "error": {"code": "A", "message": ""}},
    ],
)
def test_what_is_no_message_does_not_fit(message: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Draft202012Validator(SCHEMA).validate(message)


def test_the_page_names_every_request_capability_and_code() -> None:
    for do in {*WIRED, *OTHERS}:
        assert f"| `{do}` |" in PAGE, do
    for name in SCHEMA["$defs"]["capabilities"]["properties"]:
        assert f"| `{name}` |" in PAGE, name
    for code in (UNKNOWN_REQUEST, NO_SUCH_HOST, CRASHED):
        assert f"| `{code}` |" in PAGE
    for effect in EFFECTS:
        assert f'`{{"{effect}":' in PAGE, effect


def test_the_pages_examples_are_messages() -> None:
    lines = re.findall(r"^[→←] (\{.*\})$", PAGE, re.MULTILINE)
    whole = [json.loads(line) for line in lines if "…" not in line]
    assert len(whole) >= 5
    for message in whole:
        Draft202012Validator(SCHEMA).validate(message)


def test_the_capabilities_of_the_schema_are_those_that_are_read() -> None:
    assert set(SCHEMA["$defs"]["capabilities"]["properties"]) == {
        *Capabilities(files="coordinator").to_json()
    }


def test_a_greeting_comes_back_as_it_was_told() -> None:
    form = {"protocol": 1, "name": "a", "version": "b", "capabilities": CAPABILITIES.to_json()}
    assert greeting_from_json(form).to_json() == form
    schema_for("reply-hello").validate({"id": 1, "hello": form})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"protocol": 2}, "hello.protocol: 2"),
        ({"protocol": True}, "hello.protocol"),
        ({"name": ""}, "hello.name"),
        ({"version": 3}, "hello.version"),
        ({"extra": 1}, "hello: unknown field 'extra'"),
        ({"capabilities": []}, "hello.capabilities: an object"),
        ({"capabilities": {"telepathy": True}}, "unknown field 'telepathy'"),
        ({"capabilities": {"moments": ["lunch"]}}, r"moments\[0\]: 'lunch'"),
        ({"capabilities": {"effects": "raises"}}, "effects: a list"),
        ({"capabilities": {"hosts": "some"}}, "hosts: 'some'"),
        ({"capabilities": {"again": 1}}, "again: true or false"),
        ({"capabilities": {"files": None}}, "files"),
        ({"capabilities": {"crashPoints": [""]}}, r"crashPoints\[0\]"),
    ],
)
def test_a_greeting_that_makes_no_sense_names_the_place(change: dict[str, Any], told: str) -> None:
    form = {"protocol": 1, "name": "a", "version": "b", **change}
    with pytest.raises(ValueError, match=told):
        greeting_from_json(form)


def test_every_operation_and_event_was_said(heard: Heard) -> None:
    """So that a schema which nothing ever met can't pass for tested."""
    assert len(OPERATIONS) == 11
    for kind in (Open, Call, Admit, Finish, Park, Quiesce):
        name = kind.__name__[0].lower() + kind.__name__[1:]
        assert heard.kinds[f"request-{name}"] >= 5, name
