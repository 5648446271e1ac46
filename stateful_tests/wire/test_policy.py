"""A policy file declares deviations, each with a reason; what makes no sense is an error with its place."""

from collections import Counter
from pathlib import Path

import pytest

from model.actions import Call, Open, SetLease
from stateful_tests.wire import policy as policies
from stateful_tests.wire.fakes import fake
from stateful_tests.wire.lockstep import WireLockstep
from stateful_tests.wire.policy import PolicyError
from stateful_tests.wire.target import Session

CODE = '[[code]]\noperation = "{}"\nmodel = "COMMAND_FAILED"\nstore = "MY_COMMAND_FAILED"\nreason = "ours"\n'


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(text, "utf-8")
    return path


def test_all_three_kinds_are_read_and_come_back_as_json(tmp_path: Path) -> None:
    text = (
        CODE.format("*")
        + '[[missing]]\noperation = "dispatch"\nreason = "not here"\n'
        + '[[field]]\nname = "renewedAt"\nreason = "nobody reads it"\n'
    )
    policy = policies.load(written(tmp_path, text))
    assert [one.key for one in policy.declared] == [
        "deviation/code * COMMAND_FAILED is MY_COMMAND_FAILED",
        "deviation/no dispatch",
        "deviation/no field renewedAt",
    ]
    assert policies.from_json(policy.to_json()) == policy


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[codes]]\n", "at the top: unknown key 'codes'; known are code, field, missing"),
        ('[[code]]\nwhy = "x"\n', r"code\[0\]: unknown key 'why'"),
        (CODE.format("reserve").replace('reason = "ours"\n', ""), r"code\[0\]\.reason: a text is needed"),
        (CODE.format("reserve").replace('"ours"', '" "'), r"code\[0\]\.reason"),
        (CODE.format("lend"), r"code\[0\]\.operation: 'lend'; known are"),
        (CODE.format("reserve").replace('"COMMAND_FAILED"', '"NO"'), r"code\[0\]\.model: 'NO'"),
        ('[[missing]]\noperation = 3\nreason = "x"\n', r"missing\[0\]\.operation: a text is needed"),
        ('[[field]]\nname = "state"\nreason = "x"\n', r"field\[0\]\.name: 'state'; known are"),
        ('[missing]\noperation = "dispatch"\n', r"missing: write it as \[\[missing\]\]"),
        (CODE.format("reserve") * 2, "declared twice: code reserve"),
        ("code = ", "no TOML"),
    ],
)
def test_what_makes_no_sense_names_file_and_place(tmp_path: Path, text: str, told: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(PolicyError, match=told) as raised:
        policies.load(path)
    assert str(path) in str(raised.value)


def test_a_file_that_is_not_there_or_no_text_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="can't be opened: No such file"):
        policies.load(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    with pytest.raises(PolicyError, match="no UTF-8"):
        policies.load(tmp_path / "bytes.toml")


def test_a_declared_code_is_no_difference_and_is_counted(tmp_path: Path) -> None:
    """The same target without its policy is a violation at the very same call."""
    actions = (
        SetLease({"holderId": "a", "fencingEpoch": 1, "endpoint": "x", "expiresAt": 1_800_000_000_000}),
        Open("h", "a", 1, 2),
        Call("h", "alice", "renew", {"id": "nonsense"}),
    )
    for text, kind in (("", "code"), (CODE.format("renew"), None), (CODE.format("reserve"), "code")):
        session = Session(fake("other-codes"))
        counts: Counter[str] = Counter()
        policy = policies.load(written(tmp_path, text))
        target = session.target(tmp_path / f"store-{len(text)}")
        pair = WireLockstep(target, policy=policy, counts=counts)
        found = [pair.step(action).divergence for action in actions]
        assert found[:2] == [None, None]
        assert (found[2] and found[2].kind) == kind
        assert counts == ({policy.codes[0].key: 1} if kind is None else {})
        session.close()
