"""The page can be read: enough contrast in light and dark, and no colour carries meaning alone."""

from collections.abc import Mapping

import pytest

from reports.html.palette import DARK, LIGHT, MARKS_ON, TEXT_ON
from reports.html.parts import MOODS, mark
from reports.html.style import STYLE

SCHEMES = {"light": LIGHT, "dark": DARK}


def contrast(one: str, other: str) -> float:
    """The ratio of contrast as WCAG 2.2 defines it, from 1 to 21."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def below(colours: Mapping[str, str], pairs: Mapping[str, tuple[str, ...]], least: float) -> list[str]:
    return [
        f"{ink} on {ground}"
        for ink, grounds in pairs.items()
        for ground in grounds
        if contrast(colours[ink], colours[ground]) < least
    ]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_and_marks_stand_out_from_what_they_stand_on(scheme: str) -> None:
    assert below(SCHEMES[scheme], TEXT_ON, 4.5) == []
    assert below(SCHEMES[scheme], MARKS_ON, 3.0) == []


def test_the_measure_is_the_standard_one_and_notices_a_pale_grey() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert below({**LIGHT, "soft": "#777777"}, TEXT_ON, 4.5) != []


def test_both_schemes_have_the_same_colours_and_every_one_is_used() -> None:
    assert LIGHT.keys() == DARK.keys()
    assert [name for name in LIGHT if f"var(--{name})" not in STYLE] == []


def test_every_verdict_has_a_shape_and_a_word_beside_its_colour() -> None:
    shapes = {
        mood: mark("x", mood).markup.partition("</span>")[0].rpartition(">")[2] for mood in MOODS.values()
    }
    assert len(set(shapes.values())) == len(shapes)
    for word in MOODS:
        assert word in mark(word).markup
