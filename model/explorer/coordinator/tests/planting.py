"""A function of the model with one piece of its text replaced, for as long as a `with` lasts."""

import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any


@contextmanager
def instead(function: Callable[..., Any], old: str, new: str) -> Iterator[None]:
    """`function` with `new` where its text says `old`, which it must say just once."""
    assert isinstance(function, FunctionType)
    text = textwrap.dedent(inspect.getsource(function))
    assert text.count(old) == 1, f"{function.__qualname__} says {old!r} {text.count(old)} times"
    made: dict[str, Any] = {}
    code = compile("from __future__ import annotations\n" + text.replace(old, new), "<planted>", "exec")
    exec(code, function.__globals__, made)  # the text is the model's own but for what is planted
    planted = made[function.__name__]
    assert planted.__code__.co_freevars == function.__code__.co_freevars
    plain = function.__code__
    function.__code__ = planted.__code__
    try:
        yield
    finally:
        function.__code__ = plain
