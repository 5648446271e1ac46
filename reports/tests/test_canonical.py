"""Canonical JSON: the numbers of RFC 8785, its order of keys, and text that no JSON can hold."""

import json
import struct
from typing import Any

import pytest

from reports.canonical import canonical, clean, number
from reports.tests.samples import HOSTILE

NUMBERS = {
    0x0000000000000000: "0",
    0x8000000000000000: "0",
    0x0000000000000001: "5e-324",
    0x8000000000000001: "-5e-324",
    0x7FEFFFFFFFFFFFFF: "1.7976931348623157e+308",
    0xFFEFFFFFFFFFFFFF: "-1.7976931348623157e+308",
    0x4340000000000000: "9007199254740992",
    0xC340000000000000: "-9007199254740992",
    0x4430000000000000: "295147905179352830000",
    0x44B52D02C7E14AF5: "9.999999999999997e+22",
    0x44B52D02C7E14AF6: "1e+23",
    0x44B52D02C7E14AF7: "1.0000000000000001e+23",
    0x444B1AE4D6E2EF4E: "999999999999999700000",
    0x444B1AE4D6E2EF4F: "999999999999999900000",
    0x444B1AE4D6E2EF50: "1e+21",
    0x3EB0C6F7A0B5ED8C: "9.999999999999997e-7",
    0x3EB0C6F7A0B5ED8D: "0.000001",
    0x41B3DE4355555553: "333333333.3333332",
    0x41B3DE4355555554: "333333333.33333325",
    0x41B3DE4355555555: "333333333.3333333",
    0xBECBF647612F3696: "-0.0000033333333333333333",
    0x43143FF3C1CB0959: "1424953923781206.2",
}
"""Appendix B of RFC 8785: bits of a double, and how it is written."""


@pytest.mark.parametrize(("bits", "text"), NUMBERS.items(), ids=NUMBERS.values())
def test_numbers_are_written_as_the_rfc_lists_them(bits: int, text: str) -> None:
    (value,) = struct.unpack(">d", bits.to_bytes(8, "big"))
    assert number(value) == text


def test_keys_are_sorted_by_utf_16_and_escapes_are_the_shortest() -> None:
    value = {
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\U0001f600": "Emoji: Grinning Face",
        "\x80": "Control",
        "\xf6": "Latin Small Letter O With Diaeresis",
    }
    order = [text.split()[0] for text in json.loads(canonical(value)).values()]
    assert order == ["Carriage", "One", "Control", "Latin", "Euro", "Emoji:", "Hebrew"]
    assert canonical('\u20ac$\x0f\nA\'B"\\\\"/') == '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'.encode()
    assert canonical({"a": [1, None, True, 1.0, "é"], "": {}}) == '{"":{},"a":[1,null,true,1,"é"]}'.encode()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_has_no_json_form_is_refused_and_cleaned(value: float) -> None:
    with pytest.raises(ValueError, match="no JSON form"):
        canonical({"a": value})
    assert clean({"a": value}) == {"a": None}
    with pytest.raises(TypeError, match="is no JSON"):
        canonical({"a": object()})


@pytest.mark.parametrize(
    ("given", "cleaned"),
    [
        ("a\ud800b", "a\\ud800b"),
        ("\U0001f600", "\U0001f600"),
        ({1: (2, "x")}, {"1": [2, "x"]}),
        (frozenset({"b", "a"}), ["a", "b"]),
        ([True, None, 2**60], [True, None, 2**60]),
    ],
)
def test_cleaning_changes_only_what_it_must(given: Any, cleaned: Any) -> None:
    assert clean(given) == cleaned
    assert json.loads(canonical(clean(given))) == cleaned


def test_hostile_text_survives_but_for_its_lone_surrogate() -> None:
    again = json.loads(canonical(clean({HOSTILE: HOSTILE})))
    assert again == {HOSTILE.replace("\ud800", "\\ud800"): HOSTILE.replace("\ud800", "\\ud800")}
