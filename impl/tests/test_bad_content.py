"""What stands in the state and identity files is not what the format says.

Each content is shown to an open store, a fresh opening, `read_durable_epoch` and `audit_directory`: all
refuse it with DURABILITY_FAILED, and nobody writes. Checksums are right wherever the text can be given
any, so that it is the form itself which is refused.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from impl.tests import independent
from impl.tests.crafting import Path, Readers, at, changed, identity_refused, lacking, telling
from impl.tests.derive_store import INSTANCE, uuid
from impl.tests.workbench import Bench, workbench

MAPS: tuple[Path, ...] = (("reservations",), ("commands",))
OPTIONAL = {
    "attemptId", "providerJobHandle", "renewedAt", "admitRunVersion", "releaseKind",
    "releaseProofId", "request",
}  # fmt: skip


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


@pytest.fixture
def readers(bench: Bench) -> Readers:
    return Readers(bench)


def doubled(value: Any, place: Path, new: str, path: Path = ()) -> str:
    """The text of a value in which the object at `place` ends with one more key, written as `new`."""
    if isinstance(value, dict):
        parts = [
            json.dumps(key) + ":" + doubled(item, place, new, (*path, key)) for key, item in value.items()
        ]
        return "{" + ",".join([*parts, new] if path == place else parts) + "}"
    if isinstance(value, list):
        return "[" + ",".join(doubled(item, place, new, (*path, key)) for key, item in enumerate(value)) + "]"
    return json.dumps(value)


def escaped(key: str) -> str:
    return '"' + f"\\u{ord(key[0]):04x}" + key[1:] + '"'


def test_two_keys_alike_in_any_object_are_refused(readers: Readers) -> None:
    for path, value in telling(readers.grown):
        if isinstance(value, dict):
            for key in (next(iter(value)), list(value)[-1]):
                again = json.dumps(value[key])
                for name, text in (
                    (json.dumps(key), again),
                    (escaped(key), again),
                    (json.dumps(key), "null"),
                ):
                    content = doubled(readers.grown, path, f"{name}:{text}").encode() + b"\n"
                    readers.refused(content, "DURABILITY_FAILED")
    assert readers.count > 100


def test_two_keys_alike_in_the_identity_are_refused(readers: Readers, bench: Bench) -> None:
    good = bench.identity.read_bytes()
    for key, value in json.loads(good).items():
        for name in (json.dumps(key), escaped(key)):
            identity_refused(bench, readers.store, good[:-2] + f",{name}:{json.dumps(value)}}}\n".encode())


def spellings(number: int) -> list[str]:
    """Other ways to write an integer, all of them the same number to a careless reader."""
    ways = [
        f"{number}.0",
        f"{number}e0",
        f"{number}E+0",
        f"{number}0e-1",
        f"{number}.",
        f"0{number}",
        f"+{number}",
    ]
    ways += [f"{number}.000", f" {number}_0", f"0x{number:x}", f"{number}n", f'"{number}"']
    return ways + (["-0", "0.0", "-0.0", "0e9"] if number == 0 else [f"-{number}", f"{number / 10}e1"])


def test_an_integer_written_in_another_way_is_refused(readers: Readers) -> None:
    text = readers.dump(readers.grown).decode()
    for path, value in telling(readers.grown):
        if type(value) is int:
            marked = readers.dump(changed_unsealed(readers.grown, path, "\x00here")).decode()
            for spelling in spellings(value):
                content = marked.replace('"\\u0000here"', spelling)
                assert content != text
                readers.refused(content.encode(), "DURABILITY_FAILED", fresh=False)
    assert readers.count > 400


def changed_unsealed(state: Any, path: Path, new: Any) -> Any:
    made = json.loads(json.dumps(state))
    at(made, path[:-1])[path[-1]] = new
    return made


HUGE = 10**400
WRONG: dict[type, list[Any]] = {
    int: [True, False, "3", "", None, [], {}, -1, 2**53, HUGE, 1.5, 1e300],
    bool: [1, 0, "true", None, False, [], {}],
    str: [0, 1, None, True, [], {}, "", ["x"]],
    list: [None, 0, "", {}, True, [None], [[]], [{}]],
    dict: [None, 0, "", [], True, "x"],
}


def test_a_value_of_the_wrong_kind_is_refused_even_with_right_checksums(readers: Readers) -> None:
    for path, value in telling(readers.grown):
        for wrong in WRONG[type(value)] if path else ():
            content = readers.dump(changed(readers.grown, path, wrong))
            readers.refused(content, "DURABILITY_FAILED", fresh=readers.count % 8 == 0)
        if type(value) is int:
            floated = readers.dump(changed(readers.grown, path, float(value)))
            readers.refused(floated, "DURABILITY_FAILED", fresh=False)
    assert readers.count > 700


def test_a_lone_surrogate_in_any_text_is_refused(readers: Readers) -> None:
    for path, value in telling(readers.grown):
        if isinstance(value, str):
            for wrong in ("\ud800", value + "\udfff", "\udc00\ud800"):
                state = changed(readers.grown, path, wrong)
                content = json.dumps(state, separators=(",", ":")).encode() + b"\n"
                readers.refused(content, "DURABILITY_FAILED", fresh=False)
                raw = json.dumps(state, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
                readers.refused(raw, "DURABILITY_FAILED", fresh=False)


def test_a_key_too_many_at_any_level_is_refused_even_with_right_checksums(readers: Readers) -> None:
    extras: dict[str, Any] = {"extra": 1, "": None, "__proto__": {}, "Version": 1, "é": "é", uuid(99): {}}
    for path, value in telling(readers.grown):
        if isinstance(value, dict):
            for key, item in extras.items():
                content = readers.dump(changed(readers.grown, (*path, key), item))
                readers.refused(content, "DURABILITY_FAILED", fresh=False)
    assert readers.count > 80


def test_a_key_missing_at_any_level_is_refused_even_with_right_checksums(readers: Readers) -> None:
    """What may be missing is the specification's list; two whose absence breaks a clause keep its code."""
    spared = set()
    for path, _ in telling(readers.grown):
        if not path or isinstance(path[-1], int) or path[:-1] in MAPS:
            continue
        content, key = readers.dump(lacking(readers.grown, path)), path[-1]
        state = (
            readers.grown["reservations"].get(path[1], {}).get("reservation", {}).get("state")
            if path[1:]
            else ""
        )
        if key in ("projectAdmitCommitSeq", "reservedExpiresAt") and path[0] == "reservations":
            if state != "released":
                readers.refused(content, "ADMISSION_BINDING_CONFLICT")
        elif key in OPTIONAL:
            readers.accepted(content)
            spared.add(key)
        else:
            readers.refused(content, "DURABILITY_FAILED", fresh=False)
    assert spared == OPTIONAL


def test_a_key_missing_is_never_filled_in_even_where_the_checksums_count_it_as_there(
    readers: Readers,
) -> None:
    for path, value in telling(readers.grown):
        if path and isinstance(value, int | str) and path[-1] not in OPTIONAL and path[-1] != "maxActiveRuns":
            made = json.loads(json.dumps(readers.grown))
            del at(made, path[:-1])[path[-1]]
            readers.refused(readers.dump(made), "DURABILITY_FAILED", fresh=False)


IDENTITY_CHANGES: dict[str, list[Any]] = {
    "version": [0, 2, 1.0, True, "1", None, -1],
    "canonicalPath": ["", "/", ".", "/tmp", None, 1, [], "store"],
    "dev": [0, -1, None, "1", 2**53, True],
    "ino": [0, -1, None, "1", 2**53, True],
    "instanceId": ["", uuid(5), None, 1, INSTANCE.upper(), "{" + INSTANCE + "}", INSTANCE + "\n"],
}  # fmt: skip


def test_an_identity_that_says_anything_else_is_refused(readers: Readers, bench: Bench) -> None:
    good = json.loads(bench.identity.read_bytes())
    for key, wrongs in IDENTITY_CHANGES.items():
        for wrong in wrongs:
            identity_refused(bench, readers.store, independent.dump({**good, key: wrong}))
        identity_refused(bench, readers.store, independent.dump({k: v for k, v in good.items() if k != key}))
    for key in ("dev", "ino", "version"):
        for text in spellings(good[key]):
            marked = independent.dump({**good, key: "\x00here"})
            identity_refused(bench, readers.store, marked.replace(b'"\\u0000here"', text.encode()))
    for extra in ("extra", "stateHash", "", "Version"):
        identity_refused(bench, readers.store, independent.dump({**good, extra: 1}))


def test_a_state_that_names_another_directory_or_instance_is_refused(readers: Readers) -> None:
    place = ("directoryIdentity",)
    stored = readers.grown["directoryIdentity"]
    for key, wrongs in IDENTITY_CHANGES.items():
        for wrong in wrongs:
            path: Path = (key,) if key in ("version", "instanceId") else (*place, key)
            readers.refused(readers.dump(changed(readers.grown, path, wrong)), "DURABILITY_FAILED")
    for key in ("dev", "ino"):
        other = changed(readers.grown, (*place, key), stored[key] + 1)
        readers.refused(readers.dump(other), "DURABILITY_FAILED")


def test_a_text_longer_than_any_argument_is_no_fault_of_an_old_state(readers: Readers) -> None:
    """The length rule is one for arguments: stores written before it existed still open."""
    force = ("commands", uuid(1, 9), "request", "reason")
    for path in (force, ("reservations", uuid(2), "reservation", "providerJobHandle")):
        readers.accepted(readers.dump(changed(readers.grown, path, "x" * 100_000)))


def test_the_unharmed_states_of_these_tests_are_accepted(readers: Readers) -> None:
    """Otherwise each refusal above could have another reason."""
    readers.accepted(readers.good)
    readers.accepted(readers.dump(readers.grown))
    readers.accepted(
        readers.dump(changed(readers.grown, ("lastWallTime",), readers.grown["lastWallTime"] + 1))
    )
