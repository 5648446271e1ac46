"""Elements hold escaped text, and nothing else; links stay within the page and the run's folder."""

import pytest

from reports.html.markup import Html, code, el, file_link, join, link, text
from reports.tests.samples import HOSTILE


def test_text_is_escaped_and_its_harmful_characters_are_shown_as_what_they_are() -> None:
    assert text("<b>&\"'").markup == "&lt;b&gt;&amp;&quot;&#x27;"
    assert text("\x1b[31m\x00\u202e\u2066\ud800e\u0301").markup == (r"\x1b[31m\x00\u202e\u2066\ud800e\u0301")
    assert text("Zürich 日本 עברית").markup == "Zürich 日本 עברית"
    assert text({"<": 1}).markup == "{&#x27;&lt;&#x27;: 1}"


def test_a_long_text_is_cut_and_says_how_much_is_left_out() -> None:
    assert text("x" * 500, 10).markup == "xxxxxxxxxx... (490 more characters)"
    assert len(code(HOSTILE).markup) < 1000


def test_children_are_text_unless_they_are_markup() -> None:
    assert el("p", "<b>", el("b", "<i>"), 3, None).markup == "<p>&lt;b&gt;<b>&lt;i&gt;</b>3</p>\n"
    assert join(["<", Html("<br>"), ">"], between="&").markup == "&lt;&amp;<br>&amp;&gt;"


def test_attributes_are_escaped_and_left_out_where_there_is_nothing_to_say() -> None:
    made = el("details", class_='a" onclick="x', open=True, id=None, hidden=False, aria_label="<\x1b>")
    assert made.markup == (
        '<details class="a&quot; onclick=&quot;x" open aria-label="&lt;\\x1b&gt;"></details>\n'
    )


@pytest.mark.parametrize("tag", ["script", "style", "iframe", "form", "base", "link"])
def test_what_could_run_or_fetch_something_can_not_be_made(tag: str) -> None:
    with pytest.raises(AssertionError):
        el(tag)
    with pytest.raises(AssertionError):
        el("p", onclick="x")


@pytest.mark.parametrize("name", ["traces/a-1.json", "evidence/x", "results.json", "a/b..c/d"])
def test_a_file_of_the_run_is_linked_to(name: str) -> None:
    assert file_link(name) == link(name, code(name))


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a//b",
            "//host/x",
            "javascript:alert(1)",
            "data:x",
            "a/./b",
        ),
        *("a b", "a\\b", "a?b", "a#b", "a%2e", "é", HOSTILE, None, 3, ["x"], "x" * 300, "https://host"),
    ],
)
def test_a_name_that_might_lead_elsewhere_is_shown_as_text(name: object) -> None:
    assert "<a" not in file_link(name).markup
