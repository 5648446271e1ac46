"""A process that does nothing but fork children from a warm store, on request.

Each fork write-protects its parent's pages, and each page that the parent then touches faults. The process
that judges what a kill left touches a thousand; so it isn't the one that forks. It forks a forge once per
situation, and the forge, which only waits, forks the children.

A forge ends when it is closed, and by itself when its maker is gone. Its children have a deadline.
"""

import gc
import os
import pickle
import select
import struct
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from crash_tests.children import DEADLINE_S, Child, Ended, HarnessError, Say, in_child

_LENGTH = struct.Struct("!I")


class Forge:
    """`ask(request)` has `work(request, say)` done in a fresh child of the forge; how that ended."""

    def __init__(self, work: Callable[[Any, Say], None]) -> None:
        asks, self._asks = os.pipe()
        self._answers, answers = os.pipe()

        def serve(_: Say) -> None:
            os.close(self._asks)
            os.close(self._answers)
            gc.freeze()
            while (request := _receive(asks)) is not None:
                _send(answers, pickle.dumps(_done(work, request, (asks, answers))))

        self._child = Child(serve)
        os.close(asks)
        os.close(answers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ask(self, request: object) -> Ended:
        """Raises `HarnessError` if the forge itself is gone or silent."""
        try:
            _send(self._asks, pickle.dumps(request))
        except BrokenPipeError:
            raise HarnessError(f"the forge {self._child.wait(1.0).describe()}") from None
        poll = select.poll()
        poll.register(self._answers, select.POLLIN)
        answer = _receive(self._answers) if poll.poll(2 * DEADLINE_S * 1000) else None
        if answer is None:
            raise HarnessError(f"the forge {self._child.wait(1.0).describe()}")
        ended: Ended = pickle.loads(answer)
        return ended

    def close(self) -> None:
        """Ends the forge, and waits for its end."""
        for descriptor in (self._asks, self._answers):
            os.close(descriptor)
        self._child.wait(1.0)


def _done(work: Callable[[Any, Say], None], request: bytes, descriptors: tuple[int, ...]) -> Ended:
    def one(say: Say) -> None:
        for descriptor in descriptors:
            os.close(descriptor)
        work(pickle.loads(request), say)

    return in_child(one)


def _send(descriptor: int, message: bytes) -> None:
    rest = _LENGTH.pack(len(message)) + message
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _receive(descriptor: int) -> bytes | None:
    """One message, or `None` if the other end is closed."""
    head = _exactly(descriptor, _LENGTH.size)
    return None if head is None else _exactly(descriptor, _LENGTH.unpack(head)[0])


def _exactly(descriptor: int, size: int) -> bytes | None:
    read = b""
    while len(read) < size:
        piece = os.read(descriptor, size - len(read))
        if not piece:
            return None
        read += piece
    return read
