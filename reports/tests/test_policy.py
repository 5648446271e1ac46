"""A policy is read whole, or the error names the place and what is needed there."""

from datetime import date
from pathlib import Path

import pytest

from reports.policy import Policy, PolicyError, Suppression, parse

WHOLE = """\
schema_version = 1

[require]
profiles = ["ci", "deep"]
phases = ["kills"]
properties = ["S10", "ledger/chain"]
committed = true
target = "node mine.js {directory}"
whole = false

[floors]
actions = 100_000
"kill/reserve/state-rename-before#1" = 3

[against]
may_fall = 0.1
properties_may_go = true
store_may_change = true
deviations_may_grow = true

[[suppress]]
property = "C6"
owner = "jo@example.org"
reason = "mended in the next release"
expires = 2031-01-31

[[suppress]]
floor = "race/*"
owner = "jo@example.org"
reason = "the runner has one core"
expires = 2031-02-28
"""


def test_a_policy_is_read() -> None:
    assert parse(WHOLE) == Policy(
        profiles=("ci", "deep"),
        phases=("kills",),
        properties=("S10", "ledger/chain"),
        committed=True,
        target="node mine.js {directory}",
        whole=False,
        floors={"actions": 100_000, "kill/reserve/state-rename-before#1": 3},
        may_fall=0.1,
        properties_may_go=True,
        store_may_change=True,
        deviations_may_grow=True,
        suppressions=(
            Suppression("property", "C6", "jo@example.org", "mended in the next release", date(2031, 1, 31)),
            Suppression("floor", "race/*", "jo@example.org", "the runner has one core", date(2031, 2, 28)),
        ),
    )
    assert parse("schema_version = 1") == Policy()
    assert parse('schema_version = 1\nrequire.properties = "all"').properties == "all"


SUPPRESS = (
    'schema_version = 1\n[[suppress]]\nproperty = "C6"\nowner = "jo"\nreason = "why"\nexpires = 2031-01-31\n'
)
WRONG = {
    "x = ": "this is no TOML: ",
    "schema_version = 1\nfloors.kills = 9\nfloors.kills = 1": "this is no TOML: Cannot overwrite a value",
    "": "schema_version: nothing stands there",
    "[[code]]": r"code \(line 1\): no such key here; this looks like the policy of a target",
    "schema_version = 2": "schema_version: 2 stands there",
    "schema_version = true": "schema_version: True",
    "schema_version = 1\nrequired = 1": r"required \(line 2\): no such key; known here are schema_version",
    "schema_version = 1\n[require]\nprofile = ['ci']": r"require.profile \(line 3\): no such key",
    "schema_version = 1\n[require]\nprofiles = 'ci'": r"profiles \(line 3\): a list of texts is needed",
    "schema_version = 1\n[require]\nproperties = 'some'": 'a list of texts is needed \\(or "all"\\)',
    "schema_version = 1\n[require]\nproperties = [1]": "a list of texts is needed",
    "schema_version = 1\n[require]\ncommitted = 1": "require.committed .*: true or false is needed",
    "schema_version = 1\n[require]\nwhole = 0": r"require.whole \(line 3\): true or false is needed",
    "schema_version = 1\n[require]\ntarget = true": r"require.target \(line 3\): the command is needed",
    "schema_version = 1\n[require]\ntarget = ' '": "leave the key out for the project's own store",
    "schema_version = 1\nrequire = 3": "a table is needed, .require.",
    "schema_version = 1\n[floors]\nactions = 0": r"floors.actions \(line 3\): a number from 1 on",
    "schema_version = 1\n[floors]\nactions = true": "a number from 1 on",
    "schema_version = 1\n[floors]\na.b = 3": "a key with a dot or a slash stands in quotes",
    "schema_version = 1\nfloors = 3": "a table is needed, .floors.",
    "schema_version = 1\n[against]\nmay_fall = 1.5": "a share from 0 to 1 is needed, not 1.5",
    "schema_version = 1\n[against]\nmay_fal = 0.5": r"against.may_fal \(line 3\): no such key",
    "schema_version = 1\n[suppress]\nproperty = 'C6'": r"as a table of its own, \[\[suppress\]\]",
    "schema_version = 1\nsuppress = [1]": r"suppress\[0\]: a table is needed",
    SUPPRESS + "until = 3": r"suppress\[0\].until \(line 7\): no such key",
    SUPPRESS + "floor = 'x'": "one of failure, property, floor is needed, and 2 stand there",
    SUPPRESS.replace('property = "C6"\n', ""): "and 0 stand there",
    SUPPRESS.replace('"jo"', '" "'): r"suppress\[0\].owner \(line 4\): a text is needed",
    SUPPRESS.replace('owner = "jo"\n', ""): r"suppress\[0\].owner \(line 2\): a text is needed, not None",
    SUPPRESS.replace('reason = "why"\n', ""): r"suppress\[0\].reason \(line 2\): a text is needed",
    f"{SUPPRESS}[[suppress]]\nfloor = 'x'\nowner = 'jo'": r"suppress\[1\].reason \(line 7\): a text",
    SUPPRESS.replace("expires = 2031-01-31", ""): "a date without quotes is needed",
    SUPPRESS.replace("2031-01-31", '"2031-01-31"'): "a date without quotes is needed",
    SUPPRESS.replace("2031-01-31", "2031-01-31T00:00:00"): "a date without quotes is needed",
    SUPPRESS.replace("2031-01-31", "2031-02-31"): "this is no TOML",
    SUPPRESS.replace("property", "failure"): "16 hexadecimal digits",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_named_with_its_place(text: str) -> None:
    with pytest.raises(PolicyError, match=WRONG[text]):
        parse(text)


def test_a_suppression_holds_through_its_last_day() -> None:
    (one,) = parse(SUPPRESS).suppressions
    assert one.holds(date(2031, 1, 31))
    assert not one.holds(date(2031, 2, 1))


def test_the_example_in_the_documents_is_a_policy() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "ci" / "policy.toml").read_text("utf-8")
    assert parse(text).properties


def test_a_byte_order_mark_before_the_first_line_is_put_up_with() -> None:
    assert parse("\ufeffschema_version = 1\n") == Policy()
