"""The page's colours, for light and dark, and which of them stand on which: a test computes their contrasts.

No colour carries meaning alone: each mood has a shape and a word beside it (`reports.html.parts.mark`).
"""

from collections.abc import Mapping

LIGHT: Mapping[str, str] = {
    "bg": "#ffffff",
    "panel": "#f5f6f8",
    "ink": "#1b1f24",
    "soft": "#545c66",
    "line": "#d4d8de",
    "link": "#0a54a3",
    "good": "#14652c",
    "good-bg": "#e7f5eb",
    "bad": "#a61d16",
    "bad-bg": "#fdecea",
    "warn": "#774800",
    "warn-bg": "#fff3d9",
    "odd": "#563793",
    "odd-bg": "#f1ecfb",
    "heat1": "#edf3fa",
    "heat2": "#d9e7f5",
    "heat3": "#bcd5ee",
    "heat4": "#94bce4",
    "chart": "#2f6fb0",
    "quiet": "#767e88",
}
DARK: Mapping[str, str] = {
    "bg": "#14171a",
    "panel": "#1d2126",
    "ink": "#e7eaee",
    "soft": "#a9b2bc",
    "line": "#3b434c",
    "link": "#8fbcff",
    "good": "#84d79a",
    "good-bg": "#16301f",
    "bad": "#ff9d94",
    "bad-bg": "#3d1b19",
    "warn": "#f1c263",
    "warn-bg": "#352a11",
    "odd": "#cab6f6",
    "odd-bg": "#2b2242",
    "heat1": "#1c2836",
    "heat2": "#20364f",
    "heat3": "#264769",
    "heat4": "#2d5985",
    "chart": "#6ea8e0",
    "quiet": "#7d8691",
}
TEXT_ON: Mapping[str, tuple[str, ...]] = {
    "ink": ("bg", "panel", "good-bg", "bad-bg", "warn-bg", "odd-bg", "heat1", "heat2", "heat3", "heat4"),
    "soft": ("bg", "panel", "good-bg", "bad-bg", "warn-bg", "odd-bg"),
    "link": ("bg", "panel", "bad-bg", "good-bg", "warn-bg", "odd-bg"),
    "good": ("bg", "panel", "good-bg"),
    "bad": ("bg", "panel", "bad-bg"),
    "warn": ("bg", "panel", "warn-bg"),
    "odd": ("bg", "panel", "odd-bg"),
}
"""Text of the first on grounds of the others: at least 4.5 to 1 (WCAG 2.2, 1.4.3)."""
MARKS_ON: Mapping[str, tuple[str, ...]] = {
    "chart": ("bg",),
    "quiet": ("bg", "panel"),
    "bad": ("bg",),
    "warn": ("bg",),
}
"""Lines and shapes that carry meaning: at least 3 to 1 (WCAG 2.2, 1.4.11)."""


def variables(colours: Mapping[str, str]) -> str:
    """The colours as custom properties of CSS."""
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())
