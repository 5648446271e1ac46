"""The audit page as a whole: golden files, its promises, and how large and how fast it is."""

import base64
import hashlib
import re
import time
from typing import Any

import pytest

from reports.html import render
from reports.tests.examples import EXAMPLES, many
from reports.tests.golden import same_as_golden
from reports.tests.html_reader import faults, read

STYLE = re.compile("<style>(.*?)</style>", re.DOTALL)


def page_of(name: str) -> str:
    example = EXAMPLES[name]
    return render(example.results, example.traces)


@pytest.mark.parametrize("name", ["passed", "violated", "inconclusive"])
def test_the_page_of_an_example_is_the_golden_one(name: str) -> None:
    page = STYLE.sub("<style>(the style sheet)</style>", page_of(name))
    page = re.sub("sha256-[^']*", "sha256-(of the style sheet)", page)
    same_as_golden(f"audit-{name}", page.splitlines())


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_page_keeps_its_promises(name: str) -> None:
    assert faults(page_of(name)) == []


@pytest.mark.parametrize(
    ("find", "put", "found"),
    [
        ("<main", "<script>1</script><main", "<script>"),
        ("<main", '<main onclick="x"', "<main onclick>"),
        ("<main", '<main style="x"', "<main style>"),
        ("<main", '<iframe src="x"></iframe><main', "<iframe src>"),
        ("<h1", "<h2", "there must be one h1, first"),
        ("<h3>What was checked</h3>", "<h4>What was checked</h4>", "h4 follows h2"),
        ("<caption", "<b", "a table without caption"),
        ('scope="col"', "", "a th without scope"),
        ("<summary>", "<b>", "a details without summary"),
        ('id="scope"', 'id="verdict"', "id verdict stands twice"),
        ('href="#scope"', 'href="#nowhere"', "a link to #nowhere, which is not there"),
        ('href="#scope"', 'href="javascript:x"', "a link that leads out: javascript:x"),
        ('href="#scope"', 'href="a/../../x"', "a link that leads out: a/../../x"),
        ('href="#scope"', 'href="//x"', "a link that leads out: //x"),
        ("<title id=", "<desc id=", "a svg without title"),
        ("<nav", "<div", "not one nav"),
        ("</main>", "", "</body> closes nothing, or something else"),
        ("Scope", "Sco\u202epe", "a harmful character"),
        ("Scope", "Sco\x1bpe", "a harmful character"),
    ],
)
def test_a_page_that_breaks_a_promise_is_noticed(find: str, put: str, found: str) -> None:
    page = page_of("violated")
    assert find in page
    assert found in faults(page.replace(find, put, 1))


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_policy_allows_the_one_style_sheet_and_nothing_else(name: str) -> None:
    page = page_of(name)
    (style,) = STYLE.findall(page)
    digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii")
    policies = [
        one["content"]
        for one in read(page).named("meta")
        if one.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policies == [
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    ]
    assert "</" not in style
    assert "url(" not in style.replace("url(#hatch)", "")
    assert "@import" not in style


def test_a_thousand_counterexamples_take_five_seconds_and_five_megabytes_at_most() -> None:
    example = many(1000)
    started = time.process_time()
    page = render(example.results, example.traces)
    assert time.process_time() - started <= 5.0
    assert len(page.encode("utf-8")) <= 5_000_000
    assert faults(page) == []
    listed = {one["href"] for one in read(page).named("a")}
    assert {failure["trace"] for failure in example.results["failures"]} <= listed, (
        "each has a link to its file"
    )


def test_more_and_longer_stories_than_fit_are_cut_and_counted() -> None:
    example = many(3000)
    failures = [
        {**one, "title": f"{at} {'<&>' * 4000}"} for at, one in enumerate(example.results["failures"])
    ]
    step = EXAMPLES["violated"].traces["traces/conformance-001-1-Operations.json"]["steps"][0]
    traces: dict[str, Any] = {
        name: {"steps": [step] * 5000, "divergence": {"index": 4999, "differences": [{}] * 900}}
        for name in list(example.traces)[:60]
    }
    page = render({**example.results, "failures": failures}, traces)
    assert len(page.encode("utf-8")) <= 5_000_000
    shown = read(page).text
    assert "4,968 steps left out here" in shown
    assert "860 more differences" in shown
    assert "1,976 more: see results.json" in shown


def test_the_same_run_makes_the_same_page() -> None:
    assert page_of("violated") == page_of("violated")
