"""Every counterexample: as stories up to a bound, one of each clause first; all others in a list, with
their files.

Stories are bounded in number and length, so that the page stays small whatever was found; what is left out is
counted, and stands in the trace's file.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from reports.commands import reproduce
from reports.html.evidence import evidence
from reports.html.markup import Child, Html, code, el, file_link, join, text
from reports.html.matrix import clause_link
from reports.html.parts import facts, many, mark, note, opens, section, table
from reports.html.story import story

STORIES = 24
LISTED = 1000


def counterexamples(results: Mapping[str, Any], traces: Mapping[str, Any]) -> Html:
    """Stories, then the list. `traces` has each trace by the name that its failure has for it."""
    failures = in_order(results["failures"])
    if not failures:
        return section("counterexamples", "Counterexamples", el("p", mark("None was found.", "good")))
    clauses = len({(one["system"], one["clause"]) for one in failures})
    told = f"{many(len(failures), 'counterexample')}, against {many(clauses, 'clause')}; the worst first"
    rest = len(failures) - STORIES
    told += f". The first {STORIES} are told, {rest:,} more are listed below." if rest > 0 else "."
    return section(
        "counterexamples",
        "Counterexamples",
        note(told),
        *(_article(at, one, results, traces) for at, one in enumerate(failures[:STORIES])),
        _list(failures[STORIES:]) if rest > 0 else None,
    )


def in_order(failures: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Failures, the worst first, but one of each clause before a second one of any, and of each title
    then."""
    seen: set[tuple[str, ...]] = set()
    ranks = []
    for failure in failures:
        clause = (failure["system"], failure["clause"])
        title = (*clause, failure["title"])
        ranks.append(0 if clause not in seen else 1 if title not in seen else 2)
        seen |= {clause, title}
    order = sorted(range(len(failures)), key=lambda at: ranks[at])
    return [failures[at] for at in order]


def _article(
    at: int, failure: Mapping[str, Any], results: Mapping[str, Any], traces: Mapping[str, Any]
) -> Html:
    name, sentence = f"counterexample-{at + 1}", failure["sentence"]
    heading = el(
        "h3",
        el("span", str(at + 1), class_="ordinal", aria_hidden="true"),
        text(headline(failure), 240),
        id=f"{name}-title",
    )
    about = [text(failure["clause"], 120), text(failure["phase"], 40)]
    about += [text(many(failure["steps"], "step"))] if failure["steps"] else []
    trace = traces.get(failure["trace"])
    gone = note("The trace's file is not there, so its story can't be told.")
    body = el(
        "article",
        el("p", text(failure["title"], 600), class_="happened") if len(failure["title"]) > 240 else None,
        note("What must hold: ", text(sentence, 300)) if sentence and sentence != headline(failure) else None,
        gone if trace is None else story(trace, name),
        evidence(traces.get(f"{failure['evidence']}/about.json"), trace) if failure["evidence"] else None,
        _again(failure, results),
        _facts(failure, results),
        aria_labelledby=f"{name}-title",
    )
    summary = join([heading, el("span", join(about, ", "), class_="meta")])
    return opens(summary, body, open_=at == 0, class_="counterexample", id=name)


def headline(failure: Mapping[str, Any]) -> str:
    """The sentence that was broken where it says just this; else what happened, as it was found."""
    broken = failure["sentence"] and failure.get("property") == failure["clause"]
    return str(failure["sentence"] if broken else failure["title"])


def _facts(failure: Mapping[str, Any], results: Mapping[str, Any]) -> Html:
    pairs: list[tuple[Child, Child]] = [("clause", clause_link(results, failure))]
    if failure["source"]:
        pairs.append(("specification", text(failure["source"], 160)))
    pairs.append(("found in", join([text(failure["phase"], 40), ", ", text(failure["system"], 40)])))
    pairs += [("steps", f"{failure['steps']:,}")] if failure["steps"] else []
    return facts([*pairs, ("id", code(failure["id"], 40))])


def _again(failure: Mapping[str, Any], results: Mapping[str, Any]) -> Html:
    """The command that shows it again, and the files that go with it."""
    names = (
        ("the trace", "trace"),
        ("the trace as ITF", "itf"),
        ("a test that fails alike", "repro"),
        ("the store's files", "evidence"),
    )
    files = [file_link(failure[key], what) for what, key in names if failure.get(key)]
    return el(
        "div",
        el("h4", "See it again"),
        el("pre", code(reproduce(results, failure), 4000)),
        el("p", "Files: ", join(files, ", "), class_="files") if files else None,
        class_="again",
    )


def _list(failures: Sequence[Mapping[str, Any]]) -> Html:
    """Those that are not told as a story."""
    rows: list[list[Child]] = [
        [
            code(one["id"], 40),
            text(one["clause"], 80),
            text(one["title"], 120),
            str(one["steps"]),
            file_link(one["trace"]) if one["trace"] else "no file",
        ]
        for one in failures[:LISTED]
    ]
    hidden = len(failures) - len(rows)
    listed = table(
        "Counterexamples that are not told above",
        ["id", "clause", "what", "steps", "trace"],
        rows,
        numbers=frozenset({3}),
        most=LISTED,
    )
    more = note(f"... and {hidden:,} more: see results.json.") if hidden > 0 else None
    return opens(f"The other {many(len(failures), 'counterexample')}", listed, more)
