"""Wrong answers of an authority, in tables.

Guarantees: `variations` yields values that are no mapping at all, then a good answer with each of its keys
missing or wrong in each way. Each of them is meant to be refused wherever a good answer is needed.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from impl.tests.derive_store import uuid


class Failing(Mapping[str, Any]):
    """A mapping that raises when it is looked at."""

    def __getitem__(self, key: str) -> Any:
        raise RuntimeError(key)

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("iterated")

    def __len__(self) -> int:
        raise RuntimeError("measured")


class FailingDict(dict[str, Any]):
    def __getitem__(self, key: str) -> Any:
        raise RuntimeError(key)

    get = __getitem__  # type: ignore[assignment]  # raises, so what it returns is beside the point

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("iterated")

    def keys(self) -> Any:
        raise RuntimeError("keys")

    def items(self) -> Any:
        raise RuntimeError("items")

    def __contains__(self, key: object) -> bool:
        raise RuntimeError("contains")


class Truthy:
    """Equal to whatever it is compared with."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1

    def strip(self) -> str:
        return "p-alice"


NO_MAPPING: list[Any] = [
    None, True, False, 0, 1, 1.5, float("nan"), 10**400, "", "lease", b"{}", [], [{}], (), set(),
    object(), {}, dict,
    [("principal", "p-alice")], Truthy(), Failing(), FailingDict(), dict,
]  # fmt: skip


NO_TEXT: list[Any] = [None, 1, 1.0, True, b"x", [], {}, ["x"], Truthy(), "", "\ud800", "x" * 4097, "x\udfff"]


NO_COUNT: list[Any] = [
    None, True, False, 1.0, 7.0, float("nan"), float("inf"), "1", "7", b"1", [], {}, -1, 2**53,
    10**400, 1j, Truthy(),
]  # fmt: skip


NO_FLAG: list[Any] = [None, 0, 1, 0.0, 1.0, "", "true", "false", b"1", [], {}, [True], Truthy(), -1]


def without(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: item for name, item in value.items() if name != key}


def variations(good: dict[str, Any], wrong: dict[str, list[Any]]) -> Iterator[Any]:
    """Values that are no mapping; then `good` with each key wrong in each way, or missing."""
    yield from NO_MAPPING
    for key, values in wrong.items():
        yield without(good, key)
        for value in values:
            yield {**good, key: value}


def named() -> dict[str, list[Any]]:
    """Wrong values for the four ids that each proof names."""
    names = ("reservationId", "projectId", "projectControlDomainId", "runId")
    return {name: [*NO_TEXT, uuid(9), uuid(1).upper() + "x", " "] for name in names}


class OddError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even printable")

    __repr__ = __str__


OTHERS: list[Exception] = [
    ValueError("wrong"), ValueError("\ud800"), KeyError("id"), OSError(28, "No space left"), TimeoutError(),
    RecursionError("deep"),
    MemoryError(), StopIteration(1), AssertionError(), AttributeError("x"),
    UnicodeEncodeError("utf-8", "\ud800", 0, 1, "x"),
    ExceptionGroup("several", [ValueError("\ud800")]), OddError(), NotImplementedError(),
    BlockingIOError(11, "again"),
]  # fmt: skip
