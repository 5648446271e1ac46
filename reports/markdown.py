"""`summary.md`: a run in GitHub-flavoured Markdown, for a step summary or a merge request.

The verdict comes first, then what was found, worst first, then what was covered and what was not. It is
bounded: at most `MOST` bytes, far below the limit of a step summary, and what was left out is said. Text that
comes from a run can't become markup, a link, a mention or HTML: it is escaped, or stands in a fenced block.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from reports import commands
from reports.coverage import actions_in, kills_in
from reports.plain import safe
from reports.scope import not_checked
from reports.story import render_story
from reports.summary import verdict_line
from reports.targets import target_lines

MOST = 100_000
SHOWN_FAILURES = 5
SHOWN_STORIES = 3
SHOWN_LINES = 60
SHOWN_FLOORS = 20
MARKS = {"PASSED": "✅", "VIOLATED": "❌", "INCONCLUSIVE": "⚠️"}
_MARKUP = re.compile(r"[\\`*_{}\[\]()#!|~^$]|^[-+=]|:(?=\w+:)|(?<=^\d)[.)]|(?<=^\d\d)[.)]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"}
_LINK = re.compile(r"(?i)(?<=:)/(?=/)|(?<=www)\.")
"""Where an address would become a link by itself."""


def render(results: Mapping[str, Any], traces: Mapping[str, Any]) -> str:
    """The whole summary."""
    parts = [
        _head(results),
        _failures(results, traces),
        _explored(results),
        _target(results),
        _phases(results),
        _floors(results),
        _policy(results),
        _not_checked(results),
        _provenance(results),
    ]
    told = "\n".join(line for part in parts if part for line in [*part, ""])
    if len(told.encode("utf-8")) <= MOST:
        return told
    cut = told.encode("utf-8")[:MOST].decode("utf-8", "ignore").rpartition("\n")[0]
    fence = "\n```" if cut.count("\n```") % 2 else ""
    return f"{cut}{fence}\n\n*Cut here: see audit.html in the run's folder.*\n"


def escape(text: object, limit: int = 300) -> str:
    """`text` as Markdown that shows just that text, on one line."""
    shown = _MARKUP.sub(r"\\\g<0>", safe(text, limit))
    shown = "".join(_ENTITIES.get(character, character) for character in shown)
    return _LINK.sub(lambda found: f"&#{ord(found.group())};", shown)


def _code(text: object, limit: int = 300) -> str:
    """`text` as inline code, on one line; in a table, too."""
    shown = safe(text, limit).replace("|", "¦")
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    ticks = "`" * (longest + 1)
    return f"{ticks} {shown} {ticks}" if "`" in shown else f"`{shown or ' '}`"


def _block(lines: Sequence[str]) -> list[str]:
    """Lines that have been through `safe`, as they are."""
    longest = max((len(run) for line in lines for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *lines, fence]


def _head(results: Mapping[str, Any]) -> list[str]:
    word = results["verdict"]["word"]
    lines = [f"## {MARKS.get(word, '🛑')} holdtrue: {escape(word)}", "", escape(verdict_line(results), 2000)]
    hidden = len(results["verdict"]["reasons"]) - SHOWN_FLOORS
    reasons = [f"- {escape(reason)}" for reason in results["verdict"]["reasons"][:SHOWN_FLOORS]]
    lines += ["", *reasons] if reasons else []
    return [*lines, f"- … and {hidden} more"] if hidden > 0 else lines


def _failures(results: Mapping[str, Any], traces: Mapping[str, Any]) -> list[str]:
    failures = _kinds(results["failures"])
    if not failures:
        return []
    many = len(results["failures"])
    lines = [f"### Found: {many} counterexample{'' if many == 1 else 's'}, of {len(failures)} kinds", ""]
    for number, failure in enumerate(failures[:SHOWN_FAILURES]):
        lines += [
            f"**{escape(failure['system'])}: {escape(failure['clause'])}** {escape(failure['title'])}",
            "",
        ]
        if failure["sentence"]:
            lines += [f"Violated property {_code(failure['property'])}: {escape(failure['sentence'])}", ""]
        trace = traces.get(failure["trace"])
        if trace is not None and number < SHOWN_STORIES:
            story = render_story(trace)
            shown = story[:SHOWN_LINES]
            shown += [f"... ({len(story) - len(shown)} more lines)"] if len(story) > len(shown) else []
            lines += [*_block(shown), ""]
        lines += [f"Reproduce: {_code(commands.reproduce(results, failure), 4000)}", ""]
    hidden = len(failures) - SHOWN_FAILURES
    return (
        [*lines, f"… and {hidden} more kinds: see audit.html in the run's folder."] if hidden > 0 else lines
    )


def _kinds(failures: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The first of each kind, in their order; failures of old runs, which have no id, by clause and title."""
    kinds: dict[tuple[str, ...], Mapping[str, Any]] = {}
    for failure in failures:
        kinds.setdefault((failure["id"], failure["clause"], failure["title"]), failure)
    return list(kinds.values())


def _explored(results: Mapping[str, Any]) -> list[str]:
    rows = [
        [
            f"{escape(each.get('system'))} {escape(each.get('space'))}",
            escape(each.get("verdict") or "\N{EN DASH}"),
            *(_count(each.get(what)) for what in ("states", "transitions", "depth")),
            _count(_inside(each, "tours", "taken")),
            _count(_inside(each, "kills", "points")),
        ]
        for each in results["explorations"]
    ]
    header = ["space", "verdict", "states", "transitions", "depth", "taken on the store", "kills"]
    return ["### Explored", "", *_table(header, rows, numbers=range(2, 7))] if rows else []


def _inside(each: Mapping[str, Any], part: str, what: str) -> object:
    found = each.get(part)
    return found.get(what) if isinstance(found, Mapping) else None


def _target(results: Mapping[str, Any]) -> list[str]:
    """Of a check of somebody else's store: which, and what of it was out of reach or is declared."""
    lines = target_lines(results)[3:]
    return ["### The target", "", *_block(lines)] if lines else []


def _phases(results: Mapping[str, Any]) -> list[str]:
    seconds = results["times"]["phases"]
    rows = [
        [
            escape(phase["name"]),
            f"{phase['done']} of {phase['planned']}",
            str(len(phase["lost"])),
            f"{actions_in(phase['counts']):,}",
            f"{kills_in(phase['counts']):,}",
            f"{len(phase['floors']) - len(phase['below_floor']):,} of {len(phase['floors']):,}",
            str(phase["failures"]),
            f"{seconds.get(phase['name'], 0.0):.1f}",
        ]
        for phase in results["phases"]
    ]
    header = ["phase", "jobs", "lost", "actions", "kills", "floors reached", "found", "seconds"]
    return ["### Covered", "", *_table(header, rows, numbers=range(1, 8))]


def _floors(results: Mapping[str, Any]) -> list[str]:
    missed = [(phase["name"], *short) for phase in results["phases"] for short in phase["below_floor"]]
    if not missed:
        return []
    rows = [[escape(name), _code(key, 100), escape(seen), escape(floor)] for name, key, seen, floor in missed]
    lines = ["### Seen too rarely", ""]
    lines += _table(["phase", "what", "seen", "floor"], rows[:SHOWN_FLOORS], numbers=(2, 3))
    hidden = len(rows) - SHOWN_FLOORS
    return [*lines, "", f"… and {hidden} more: see results.json."] if hidden > 0 else lines


def _policy(results: Mapping[str, Any]) -> list[str]:
    rows = [
        [what, *(escape(each[name]) for name in ("what", "owner", "expires", "reason"))]
        for what, name in (("suppressed", "suppressions"), ("flaky", "flakes"), ("skipped", "skips"))
        for each in results[name]
    ]
    if not rows:
        return []
    header = ["", "what", "owner", "until", "reason"]
    return ["### Suppressed, flaky, skipped", "", *_table(header, rows[:SHOWN_FLOORS])]


def _not_checked(results: Mapping[str, Any]) -> list[str]:
    told = [
        f"The phase {escape(name)}: it was not run." for name in (*results["left_out"], *results["not_begun"])
    ]
    told += [escape(sentence, 1000) for sentence in not_checked(results)]
    return ["### Not checked", "", *(f"- {sentence}" for sentence in told)]


def _provenance(results: Mapping[str, Any]) -> list[str]:
    code, here = results["code"], results["environment"]
    changed = {True: ", with changes", False: "", None: ", changes not known"}[code["dirty"]]
    rows = [
        ["commit", f"{_code(code['commit'] or 'not known')}{changed}"],
        ["seed and profile", f"{results['seed']}, {escape(results['profile'])}"],
        ["the same check again", _code(commands.rerun(results), 1000)],
        ["all of it", _code(commands.report(results, "text"), 1000)],
        ["run", f"{_code(here['run'])}, {escape(results['times']['started_at'])}"],
        ["where", f"Python {escape(here['python'])}, {escape(here['system'])}, {escape(here['filesystem'])}"],
    ]
    return ["### Provenance", "", *_table(["", ""], rows)]


def _count(value: object) -> str:
    if value is None:
        return "\N{EN DASH}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else escape(value)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> list[str]:
    rule = ["---:" if at in numbers else "---" for at in range(len(header))]
    return [f"| {' | '.join(cells)} |" for cells in (header, rule, *rows)]
