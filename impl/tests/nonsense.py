"""Tables of wrong values, and attackers that make wrong calls with them.

Guarantees: `OPERATIONS` names every operation with every argument's kind and a valid value; `KINDS` holds,
for each kind, values that must be refused. `Attack` insists, call by call, on the code and on an authority
that was never asked, and at the end on a directory that nothing has touched. `Sly…`, `Pretender` and
`Shifty` are objects that lie about what they are; of `Claiming` classes the class itself does.
"""

import decimal
import enum
import fractions
from collections.abc import Iterator, Mapping
from typing import Any

import impl
from impl.tests.derive_store import uuid
from impl.tests.workbench import Bench, photograph, refusal

GOOD = "0a1b2c3d-4e5f-4a7b-8c9d-0e1f2a3b4c5d"


LARGEST = 2**53 - 1


NO_TEXT: list[Any] = [
    0, 1, -1, 1.0, float("nan"), float("inf"), True, False, b"", GOOD.encode(), bytearray(b"x"),
    [], [GOOD], {},
    {"id": GOOD}, (), (GOOD,), {GOOD}, object(), type, Ellipsis, 10**400, 1j,
]  # fmt: skip


BAD_TEXT: list[Any] = [*NO_TEXT, "", "\ud800", "job \udc00", "\udfff\ud800", "x" * 4097, "\U0001f600" * 4097]


BAD_ID: list[Any] = [
    *BAD_TEXT,
    " ", "x", "None", "null", "0",
    GOOD.upper(), GOOD[:-1] + "D", GOOD.title(),
    GOOD.replace("-", ""), GOOD.replace("-", "_"), GOOD.replace("-", "\u2010"),
    "{" + GOOD + "}", "urn:uuid:" + GOOD, "(" + GOOD + ")", '"' + GOOD + '"',
    GOOD + "\n", GOOD + "\r", GOOD + "\0", GOOD + " ", "\n" + GOOD, " " + GOOD, "\ufeff" + GOOD, "\t" + GOOD,
    GOOD[:-1], GOOD + "0", GOOD[1:], "0" + GOOD, GOOD + GOOD, GOOD + "-" + GOOD,
    GOOD.replace("0", "g"), GOOD.replace("0", "\uff10"), GOOD.replace("1", "\u0661"),
    GOOD.replace("a", "\uff41"),
    GOOD.replace("a", "\u0430"), GOOD.replace("b", "\u00df"), GOOD[:-1] + "\ud800",
    GOOD.replace("5", "\u2075"),
    "0a1b2c3d4-e5f-4a7b-8c9d-0e1f2a3b4c5d", "0a1b2c3d-4e5f-4a7b-8c9d0-e1f2a3b4c5d",
    "0a1b2c3d-4e5f-4a7b-8c9d-0e1f2a3b4c5d/..", "../../../../../../../../../etc/hostname",
    "0x1b2c3d-4e5f-4a7b-8c9d-0e1f2a3b4c5d", "0a1b2c3d-4e5f-4a7b-8c9d-0e1f2a3b4c_d", "constructor",
    "__proto__",
]  # fmt: skip


BAD_COUNT: list[Any] = [
    0, -1, -(2**53), LARGEST + 1, 2**63, 2**64, 10**400, -(10**400),
    1.0, 1.5, 0.0, -0.0, 1e3, float("nan"), float("inf"), float("-inf"),
    True, False, "", "1", "3", "01", "1.0", "\u0661", b"1", [], [1], {}, (1,), {1}, object(), 1j, Ellipsis,
    decimal.Decimal(1), fractions.Fraction(1),
]  # fmt: skip


BAD_TTL: list[Any] = [*BAD_COUNT, 86_400_001, 86_400_000_000, LARGEST]


ABSENT = object()
"""In a table of values: the argument is left out altogether."""


KINDS: dict[str, list[Any]] = {
    "id": [*BAD_ID, None, ABSENT],
    "id?": BAD_ID,
    "count": [*BAD_COUNT, None, ABSENT],
    "ttl": [*BAD_TTL, None, ABSENT],
    "ttl?": BAD_TTL,
    "text?": BAD_TEXT,
    "reason too long": ["x" * 4097, "\U0001f600" * 4097, "x" * 5_000_000, "because \ud800", "\udfff"],
}


OPERATIONS: dict[str, dict[str, tuple[str, Any]]] = {
    "reserve": {
        "reservationId": ("id?", uuid(9)),
        "projectId": ("id", uuid(9, 1)),
        "projectControlDomainId": ("id", uuid(9, 2)),
        "runId": ("id", uuid(9, 3)),
        "ttlMs": ("ttl", 60_000),
    },
    "commit": {
        "id": ("id", uuid(1)),
        "projectAdmitCommitSeq": ("count", 1),
        "attemptId": ("id?", uuid(1, 4)),
        "providerJobHandle": ("text?", "job"),
    },
    "renew": {"id": ("id", uuid(1)), "ttlMs": ("ttl?", 60_000)},
    "markOrphanSuspect": {"id": ("id", uuid(1))},
    "normalRelease": {"id": ("id", uuid(1))},
    "forceRelease": {
        "id": ("id", uuid(1)),
        "commandId": ("id", uuid(1, 9)),
        "riskAcknowledgement": ("policy", True),
        "reason": ("reason too long", "because"),
    },
    "setMaxActiveRuns": {"commandId": ("id", uuid(1, 9)), "maxActiveRuns": ("count", 5)},
    "readReservation": {"id": ("id", uuid(1))},
    "readCommand": {"id": ("id", uuid(1, 9))},
    "snapshot": {},
    "dispatch": {"id": ("id", uuid(1))},
}


VALID = {name: {key: good for key, (_, good) in wanted.items()} for name, wanted in OPERATIONS.items()}


def prepare(_row: object) -> Any:
    raise AssertionError("prepared although the arguments are wrong")


class Attack:
    """Makes wrong calls and insists on what each of them must leave as it was."""

    def __init__(self, bench: Bench, store: impl.Coordinator) -> None:
        self.bench, self.store, self.count = bench, store, 0
        bench.authority.log.clear()
        self.before = photograph(bench.directory)

    def __call__(self, operation: Any, arguments: Any, *codes: str) -> None:
        self.count += 1
        told = f"{operation!r} {arguments!r:.300}"
        try:
            activation = prepare if operation == "dispatch" else None
            refusal(lambda: self.store.call(operation, arguments, "root", prepare=activation), *codes)
        except Exception as error:
            raise AssertionError(f"{told}: {error!r}") from error
        assert not self.bench.authority.log, f"{told}: the authority was asked"

    def vary(self, operation: str, name: str, value: Any, *codes: str) -> None:
        arguments = {**VALID[operation], name: value}
        if value is ABSENT:
            del arguments[name]
        self(operation, arguments, *codes)

    def finish(self) -> None:
        assert photograph(self.bench.directory) == self.before


class SlyText(str):
    """A text that lies when compared, hashed or measured."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        raise RuntimeError("hashed")

    def __len__(self) -> int:
        return 36

    def __str__(self) -> str:
        return GOOD

    def strip(self, *_: object) -> str:
        return "reason"


class SlyNumber(int):
    def __eq__(self, other: object) -> bool:
        return True

    def __lt__(self, other: object) -> bool:
        return False

    __gt__ = __lt__
    __hash__ = int.__hash__


class Size(enum.IntEnum):
    ONE = 1


class Pretender:
    """Equal to everything, of no kind at all."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1

    def __bool__(self) -> bool:
        return True

    def __index__(self) -> int:
        return 1

    def __int__(self) -> int:
        return 1

    def __str__(self) -> str:
        return GOOD


class Shifty(Mapping[str, Any]):
    """A mapping whose every method can fail."""

    def __init__(self, failing: str) -> None:
        self.failing = failing

    def _try(self, name: str, answer: Any) -> Any:
        if name == self.failing:
            raise RuntimeError(name)
        return answer

    def __getitem__(self, key: str) -> Any:
        return self._try("getitem", VALID["renew"][key])

    def __iter__(self) -> Iterator[str]:
        return self._try("iter", iter(VALID["renew"]))  # type: ignore[no-any-return]  # _try is untyped on purpose

    def __len__(self) -> int:
        return int(self._try("len", 2))


class Claiming(type):
    """The class of classes that are equal to every class."""

    def __eq__(cls, other: object) -> bool:
        return True

    def __ne__(cls, other: object) -> bool:
        return False

    __hash__ = type.__hash__


class Text(str, metaclass=Claiming):
    __slots__ = ()


class Number(int, metaclass=Claiming):
    __slots__ = ()


def claiming(value: Any) -> Any:
    """The same value, of a class that claims to be its class."""
    return Text(value) if isinstance(value, str) else Number(value)
