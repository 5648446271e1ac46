"""Every counterexample: the worst one of each kind as a story, all others in a list, with their files.

A *kind* is a clause broken in the same words by the same system. Stories are bounded in number and length, so
that the page stays small whatever was found; what is left out is counted, and stands in the trace's file.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from reports.commands import reproduce
from reports.html.markup import Child, Html, code, el, file_link, join, text
from reports.html.matrix import clause_link
from reports.html.parts import facts, many, mark, note, opens, section, table
from reports.html.story import story

STORIES = 12
LISTED = 1000


@frozen
class Kind:
    """Failures that are alike, the worst first."""

    failures: tuple[Mapping[str, Any], ...]

    @property
    def worst(self) -> Mapping[str, Any]:
        return self.failures[0]


def counterexamples(results: Mapping[str, Any], traces: Mapping[str, Any]) -> Html:
    """Stories, then the list. `traces` has each trace by the name that its failure has for it."""
    failures = results["failures"]
    if not failures:
        return section("counterexamples", "Counterexamples", el("p", mark("None was found.", "good")))
    kinds = kinds_of(failures)
    told = many(len(failures), "counterexample") + ", " + many(len(kinds), "kind")
    shown = kinds[:STORIES]
    stories = [_article(at, kind, results, traces) for at, kind in enumerate(shown)]
    hidden = len(kinds) - len(shown)
    bounded = f" {many(hidden, 'more kind is', 'more kinds are')} in the list below alone." if hidden else ""
    return section(
        "counterexamples",
        "Counterexamples",
        note(f"{told}. Of each kind the shortest is told, the worst first.{bounded}"),
        *stories,
        _list(failures, shown) if len(failures) > len(shown) else None,
    )


def kinds_of(failures: Sequence[Mapping[str, Any]]) -> list[Kind]:
    """Failures by kind; one of each clause comes before a second one of any."""
    kinds: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for failure in failures:
        kinds.setdefault((failure["system"], failure["clause"], failure["title"]), []).append(failure)
    first = {clause: key for key in reversed(kinds) for clause in [key[:2]]}
    order = sorted(kinds, key=lambda key: first[key[:2]] != key)
    return [Kind(tuple(kinds[key])) for key in order]


def _article(at: int, kind: Kind, results: Mapping[str, Any], traces: Mapping[str, Any]) -> Html:
    failure, name = kind.worst, f"counterexample-{at + 1}"
    said = failure["sentence"]
    heading = el(
        "h3",
        el("span", str(at + 1), class_="ordinal", aria_hidden="true"),
        text(said or failure["title"], 240),
        id=f"{name}-title",
    )
    about = [text(failure["clause"], 60), text(failure["phase"], 40)]
    about += [text(many(failure["steps"], "step"))] if failure["steps"] else []
    trace = traces.get(failure["trace"])
    gone = note("The trace's file is not there, so its story can't be told.")
    body = el(
        "article",
        el("p", text(failure["title"], 600), class_="happened") if said else None,
        gone if trace is None else story(trace, name),
        _again(failure, results),
        _facts(kind, results),
        aria_labelledby=f"{name}-title",
    )
    summary = join([heading, el("span", join(about, ", "), class_="meta")])
    return opens(summary, body, open_=at == 0, class_="counterexample", id=name)


def _facts(kind: Kind, results: Mapping[str, Any]) -> Html:
    failure = kind.worst
    pairs: list[tuple[Child, Child]] = [("clause", clause_link(results, failure))]
    if failure["source"]:
        pairs.append(("specification", text(failure["source"], 160)))
    found = join([text(failure["phase"], 40), ", ", text(failure["system"], 40)])
    pairs += [("found in", found)]
    pairs += [("steps", f"{failure['steps']:,}")] if failure["steps"] else []
    if len(kind.failures) > 1:
        pairs.append(("seen", f"{len(kind.failures):,} times; the shortest is told"))
    pairs.append(("id", code(failure["id"], 40)))
    return facts(pairs)


def _again(failure: Mapping[str, Any], results: Mapping[str, Any]) -> Html:
    """The command that shows it again, and the files that go with it."""
    names = (("trace", "trace"), ("ITF trace", "itf"), ("test", "repro"), ("files of the store", "evidence"))
    files: list[Child] = [
        join([what, " ", file_link(failure[key])]) for what, key in names if failure.get(key)
    ]
    return el(
        "div",
        el("h4", "See it again"),
        el("pre", code(reproduce(results, failure), 4000), tabindex="0", aria_label="command"),
        el("p", join(files, "; "), class_="files") if files else None,
        class_="again",
    )


def _list(failures: Sequence[Mapping[str, Any]], told: Sequence[Kind]) -> Html:
    """All failures that are not told as a story."""
    stories = {id(kind.worst) for kind in told}
    rest = [one for one in failures if id(one) not in stories]
    rows: list[list[Child]] = [
        [
            code(one["id"], 40),
            text(one["clause"], 80),
            text(one["title"], 120),
            str(one["steps"]),
            file_link(one["trace"]) if one["trace"] else "no file",
        ]
        for one in rest[:LISTED]
    ]
    hidden = len(rest) - len(rows)
    listed = table(
        "Counterexamples that are not told above",
        ["id", "clause", "what", "steps", "trace"],
        rows,
        numbers=frozenset({3}),
        most=LISTED,
    )
    more = note(f"... and {hidden:,} more: see results.json.") if hidden > 0 else None
    return opens(f"The other {many(len(rest), 'counterexample')}", listed, more)
