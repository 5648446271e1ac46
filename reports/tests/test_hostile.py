"""Evil text in every field of results and traces is shown harmlessly, whatever the format."""

import json
import re
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

import pytest

from reports import attestation, commands, itf, junit, markdown, sarif
from reports.canonical import canonical, clean
from reports.failures import render_failures
from reports.markdown import escape
from reports.results import parse
from reports.summary import render_summary, verdict_line
from reports.tests.examples import EXAMPLES
from reports.tests.samples import HOSTILE

RESULTS, TRACES = clean(EXAMPLES["hostile"].results), EXAMPLES["hostile"].traces


def text() -> str:
    failures = render_failures(RESULTS["failures"], TRACES, RESULTS)
    return "\n".join([*render_summary(RESULTS), *failures, verdict_line(RESULTS)])


RENDERED = {
    "text": text(),
    "markdown": markdown.render(RESULTS, TRACES),
    "junit": junit.render(RESULTS, TRACES),
    "sarif": sarif.render(RESULTS, TRACES),
    "attestation": attestation.render(RESULTS, TRACES),
    **{f"itf {name}": itf.render(trace) for name, trace in TRACES.items()},
}


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def test_the_hostile_run_has_evil_text_nearly_everywhere() -> None:
    told = [one for one in texts(RESULTS) if "<script>" in one]
    assert len(told) > 80
    assert all(value for value in RENDERED.values())


@pytest.mark.parametrize("name", RENDERED)
def test_no_file_holds_a_character_that_moves_hides_or_reorders(name: str) -> None:
    allowed = {"\n", "\ufe0f"}  # the latter is part of the verdict's own mark
    bad = {
        character
        for character in RENDERED[name]
        if character not in allowed and unicodedata.category(character)[0] in "CM"
    }
    assert bad == set()
    RENDERED[name].encode("utf-8")


@pytest.mark.parametrize("name", ["text", "markdown", "junit"])
def test_long_text_is_cut_and_says_so(name: str) -> None:
    assert "x" * 4050 not in RENDERED[name]
    assert "more characters)" in RENDERED[name]


def test_in_markdown_nothing_evil_becomes_markup() -> None:
    outside = re.sub(r"^(`{3,})text\n.*?^\1$", "", RENDERED["markdown"], flags=re.MULTILINE | re.DOTALL)
    outside = re.sub(r"(`+)[^\n]+?\1", "", outside)
    assert "<" not in outside
    assert "&lt;script&gt;" in outside


@pytest.mark.parametrize(
    "evil",
    [
        "<img src=x onerror=alert(1)>",
        "[a](javascript:alert(1))",
        "![x](http://example.org/x.png)",
        "https://example.org www.example.org",
        "@somebody #1 ~~x~~ **x** __x__ `x` |x| $x$ :tada:",
        "- x",
        "1. x",
        "# x",
        "> x",
        "&lt;b&gt;",
        "a\\",
    ],
)
def test_markdown_is_escaped(evil: str) -> None:
    told = re.sub(r"&(#\d+|\w+);", "", escape(evil))
    assert not re.search(r"(?<!\\)[`*_\[\]#|~!$<>]|://|www\.|@|(?<!\\):\w+:|^[-+] |^\d\. ", told), told


def test_evil_code_stays_in_its_ticks() -> None:
    command = "`evil` ``more`` | x"
    told = markdown._code(command)
    assert told == "``` `evil` ``more`` ¦ x ```"


def test_in_junit_everything_evil_is_text() -> None:
    root = ET.fromstring(RENDERED["junit"])
    known = {"testsuites", "testsuite", "testcase", "failure", "error", "skipped"}
    assert {element.tag for element in root.iter()} == known - {"skipped"}
    assert "<script>" in "".join(root.itertext())


def test_in_sarif_evil_text_makes_neither_links_nor_placeholders() -> None:
    log = json.loads(RENDERED["sarif"])
    told = [one["message"]["text"] for one in log["runs"][0]["results"]]
    assert told
    for message in told:
        assert not re.search(r"(?<!\\)\[", message)
        assert not re.search(r"(?<!\{)\{(?!\{)", message)


def test_the_command_that_reproduces_can_be_pasted() -> None:
    failure = {**RESULTS["failures"][0], "trace": "traces/$(evil) '; rm.json"}
    results = {**EXAMPLES["violated"].results}
    told = commands.reproduce(results, failure)
    assert told.endswith("replay 'reports/out/20300101T120000Z-1a2b3c/traces/$(evil) '\"'\"'; rm.json'")


def test_results_keep_hostile_text_as_it_is_but_for_lone_surrogates() -> None:
    again = parse(json.loads(canonical(RESULTS)))
    assert again == RESULTS
    assert again["failures"][0]["title"].startswith(HOSTILE.replace("\ud800", "\\ud800"))
