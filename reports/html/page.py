"""The audit page: one file of HTML that needs no network, no script, and nothing beside it.

`render` is a function of the results and the traces, so that an old run's page can be made again. The page's
policy (CSP) allows its one style sheet, by hash, and nothing else: even if text were to get through as
markup, no script could run and nothing could be fetched.

The page links to the run's other files by relative paths; where it was copied alone, those links lead
nowhere.
"""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from reports.html.banner import banner
from reports.html.counterexamples import counterexamples
from reports.html.crashes import crashes
from reports.html.explored import explored
from reports.html.glossary import glossary, limitations
from reports.html.lifecycle import lifecycle
from reports.html.markup import Html, el, join, link, text
from reports.html.matrix import matrix
from reports.html.missing import missing
from reports.html.outcomes import outcomes
from reports.html.parts import MOODS
from reports.html.provenance import provenance, summary_line
from reports.html.scope import scope
from reports.html.standing import changes, dated, detection
from reports.html.style import STYLE


def render(results: Mapping[str, Any], traces: Mapping[str, Any]) -> str:
    """The page. `traces` has each trace (any JSON) by the name that its failure has for it."""
    parts = [(name, title, shown) for name, title, shown in _parts(results, traces) if shown]
    contents = [el("li", link(f"#{name}", title)) for name, title, _ in parts]
    foot = el("p", "Made from results.json by holdtrue. ", link("#verdict", "Back to the verdict"))
    body = join(
        [
            link("#main", "Skip to the verdict", class_="skip"),
            el("header", el("h1", "holdtrue audit"), summary_line(results), class_="top"),
            el("nav", el("ul", *contents), aria_label="Contents"),
            el("main", *(shown for _, _, shown in parts), id="main", tabindex="-1"),
            el("footer", foot),
        ]
    )
    return _document(results, body)


def _parts(results: Mapping[str, Any], traces: Mapping[str, Any]) -> Iterator[tuple[str, str, Html]]:
    """The page's sections in their order: address, name in the contents, and what they show."""
    lost = ("missing", "What is missing", missing(results))
    yield "verdict", "Verdict", banner(results)
    # What is missing is what an inconclusive run is about; in a violated one the stories come first.
    if not results["failures"]:
        yield lost
    yield "scope", "Scope", scope(results)
    yield "counterexamples", "Counterexamples", counterexamples(results, traces)
    if results["failures"]:
        yield lost
    yield "properties", "Properties and evidence", matrix(results)
    yield "lifecycle", "Lifecycle", lifecycle(results)
    yield "explored", "States and transitions", explored(results)
    yield "outcomes", "Operations and outcomes", outcomes(results)
    yield "crashes", "Crash matrix", crashes(results, traces)
    yield "detection", "Detection power", detection(results)
    yield "dated", "Flakes, skips, suppressions", dated(results)
    yield "changes", "Since the previous run", changes(results)
    yield "provenance", "Provenance", provenance(results)
    yield "limits", "Limitations", limitations()
    yield "glossary", "Glossary", glossary()


def policy() -> str:
    """The page's Content-Security-Policy."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _document(results: Mapping[str, Any], body: Html) -> str:
    word, run = str(results["verdict"]["word"]), results["environment"]["run"]
    title = text(f"{word}: holdtrue audit of {run}", 160)
    # The parts that no element function may make stand here, and take no text but that.
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy()}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            '<meta name="referrer" content="no-referrer">',
            f"<title>{title.markup}</title>",
            f'<link rel="icon" href="{escape(_icon(MOODS.get(word, "odd")))}">',
            f"<style>{STYLE}</style>",
            "</head>",
            "<body>",
            body.markup,
            "</body>",
            "</html>",
            "",
        ]
    )


def _icon(mood: str) -> str:
    """The verdict as the tab's icon: its own data, so that none is asked for."""
    colour = {"good": "17692f", "bad": "b3261e", "warn": "8a5a00", "odd": "5b3f99"}[mood]
    sign = {
        "good": "M4 8l3 3 5-6",
        "bad": "M4 4l8 8M12 4l-8 8",
        "warn": "M8 3v6M8 12v1",
        "odd": "M8 3v6M8 12v1",
    }[mood]
    drawn = (
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>"
        f"<rect width='16' height='16' rx='3' fill='#{colour}'/><path d='{sign}' fill='none' stroke='#fff' "
        f"stroke-width='2'/></svg>"
    )
    return "data:image/svg+xml;base64," + base64.b64encode(drawn.encode("ascii")).decode("ascii")
