"""The state and identity files are cut, flipped, doubled, or no JSON text at all.

Each content is shown to an open store, a fresh opening, `read_durable_epoch` and `audit_directory`: all
refuse it with DURABILITY_FAILED, at once, and nobody writes.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from impl.tests import independent
from impl.tests.crafting import Readers, identity_refused
from impl.tests.workbench import Bench, at_once, workbench


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


@pytest.fixture
def readers(bench: Bench) -> Readers:
    return Readers(bench)


DEEP = 100_000


def texts(good: bytes) -> dict[str, bytes]:
    """Contents that are no JSON text with one final newline, made from one that is."""
    body = good[:-1]
    first = body.index(b":")
    return {
        "empty": b"",
        "a newline": b"\n",
        "white space": b" \t\n",
        "a NUL": b"\0",
        "as many NULs": b"\0" * len(good),
        "no final newline": body,
        "two final newlines": good + b"\n",
        "carriage return and newline": body + b"\r\n",
        "a carriage return": body + b"\r",
        "a NUL after it": good + b"\0",
        "a NUL before the newline": body + b"\0\n",
        "a NUL before it": b"\0" + good,
        "a byte order mark": b"\xef\xbb\xbf" + good,
        "the text twice": good + good,
        "the text twice on one line": body + good,
        "something after it": body + b" null\n",
        "a bracket more": body + b"}\n",
        "a trailing comma": body[:-1] + b",}\n",
        "a comment": b"/**/" + good,
        "a comment after it": body + b"//\n",
        "single quotes": good.replace(b'"', b"'"),
        "a bare key": good.replace(b'"version"', b"version", 1),
        "equals for a colon": good[:first] + b"=" + good[first + 1 :],
        "upper case": good.upper(),
        "UTF-16": good.decode().encode("utf-16"),
        "UTF-16 without a mark": good.decode().encode("utf-16-le"),
        "UTF-32": good.decode().encode("utf-32"),
        "null": b"null\n",
        "true": b"true\n",
        "a number": b"1\n",
        "NaN": b"NaN\n",
        "a text": b'"' + body.replace(b"\\", b"").replace(b'"', b"") + b'"\n',
        "a list": b"[" + body + b"]\n",
        "an empty list": b"[]\n",
        "an empty object": b"{}\n",
        "wrapped": b'{"state":' + body + b"}\n",
        "deep lists": b"[" * DEEP + b"]" * DEEP + b"\n",
        "deep lists, open": b"[" * DEEP,
        "deep objects": b'{"version":' * DEEP + b"1" + b"}" * DEEP + b"\n",
        "deep inside": body[:-1] + b',"x":' + b"[" * DEEP + b"]" * DEEP + b"}\n",
        "a long number": b"1" * 10_000 + b"\n",
        "not UTF-8": body[:-1] + b',"\xff":1}\n',
        "overlong UTF-8": good.replace(b'"version"', b'"\xc1\xb6ersion"', 1),
        "a surrogate in UTF-8": good.replace(b'"version"', b'"version\xed\xa0\x80"', 1),
        "a newline inside a text": good.replace(b'"version"', b'"ver\nsion"', 1),
        "a tab inside a text": good.replace(b'"instanceId":"', b'"instanceId":"\t', 1),
        "a bad escape": good.replace(b'"version"', b'"\\version"', 1),
        "a short escape": good.replace(b'"version"', b'"\\u007"', 1),
    }


def test_a_state_that_is_no_text_is_refused(readers: Readers) -> None:
    for name, content in texts(readers.good).items():
        with at_once():
            try:
                readers.refused(content, "DURABILITY_FAILED")
            except Exception as error:
                raise AssertionError(name) from error


def test_an_identity_that_is_no_text_is_refused(readers: Readers, bench: Bench) -> None:
    for name, content in texts(bench.identity.read_bytes()).items():
        with at_once():
            try:
                identity_refused(bench, readers.store, content)
            except Exception as error:
                raise AssertionError(name) from error


@pytest.mark.parametrize("part", range(4))
def test_a_state_cut_at_any_byte_is_refused(readers: Readers, part: int) -> None:
    for length in range(part, len(readers.good), 4):
        readers.refused(readers.good[:length], "DURABILITY_FAILED", fresh=length // 4 % 4 == 0)
    assert readers.count > 900


def test_an_identity_cut_at_any_byte_is_refused(readers: Readers, bench: Bench) -> None:
    good = bench.identity.read_bytes()
    for length in range(len(good)):
        identity_refused(bench, readers.store, good[:length], fresh=length % 8 == 0)


def flipped(good: bytes, position: int, bit: int) -> bytes:
    return good[:position] + bytes([good[position] ^ 1 << bit]) + good[position + 1 :]


def same(content: bytes, meant: Any) -> bool:
    """Whether a text says the same as before, judged without `impl`."""
    try:
        return bool(independent.parse(content) == meant)
    except ValueError:
        return False


@pytest.mark.parametrize("part", range(8))
def test_a_state_with_one_bit_flipped_in_any_byte_is_refused(readers: Readers, part: int) -> None:
    """One bit of each byte, the letter case bit among them. The one flip that changes nothing but the
    writing of an escape, `\\u001b` to `\\u001B`, leaves a valid state."""
    meant, spared = independent.parse(readers.good), 0
    for position in range(part, len(readers.good), 8):
        bit = 5 if readers.good[position : position + 1].isalpha() else position // 8 % 8
        content = flipped(readers.good, position, bit)
        if same(content, meant):
            readers.accepted(content)
            spared += 1
        else:
            readers.refused(content, "DURABILITY_FAILED", fresh=position // 8 % 4 == 0)
    assert readers.count > 450
    assert spared <= 1


def test_an_identity_with_any_one_bit_flipped_is_refused(readers: Readers, bench: Bench) -> None:
    good = bench.identity.read_bytes()
    for position in range(len(good)):
        for bit in range(8):
            identity_refused(bench, readers.store, flipped(good, position, bit), fresh=bit == position % 8)
