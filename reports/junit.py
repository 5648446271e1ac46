"""`junit.xml`: a run in the form that CI systems read, after Jenkins' xUnit schema (junit-10.xsd).

One test case for each property, for each thing that had to be seen (floors, grouped by what they are of), and
for each phase's jobs. A violated property is a failure, with the story of its worst counterexample; what was
seen too rarely and jobs that were lost are errors; what was not looked at is skipped. So a run has failures
or errors if, and only if, its verdict is not PASSED.

XML 1.0 can't hold most control characters, not even escaped: all text has been through `reports.plain.safe`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from attrs import frozen

from reports import commands
from reports.plain import safe
from reports.story import render_story
from reports.summary import verdict_line

SHOWN_OTHERS = 20
SHOWN_LINES = 200


@frozen
class Case:
    """A test case. `outcome` is failure, error, skipped, or empty if it passed."""

    of: str
    name: str
    outcome: str = ""
    message: str = ""
    text: str = ""

    def lines(self) -> Iterator[str]:
        head = f"  <testcase classname={quoteattr(f'holdtrue.{self.of}')} name={quoteattr(self.name)}"
        if not self.outcome:
            yield f"{head}/>"
            return
        yield f"{head}>"
        kind = "" if self.outcome == "skipped" else f" type={quoteattr(self.outcome)}"
        message = quoteattr(self.message)
        yield f"   <{self.outcome} message={message}{kind}>{escape(self.text)}</{self.outcome}>"
        yield "  </testcase>"


def render(results: Mapping[str, Any], traces: Mapping[str, Any]) -> str:
    """The document, as text to be encoded in UTF-8."""
    suites = [
        (f"properties: {system}", [_property(each, results, traces) for each in found], 0.0)
        for system, found in _systems(results["properties"]).items()
    ]
    for phase in results["phases"]:
        seconds = results["times"]["phases"].get(phase["name"], 0.0)
        suites.append((f"phase: {phase['name']}", list(_phase(phase)), seconds))
    suites.append(("verdict", [_verdict(results, [case for _, cases, _ in suites for case in cases])], 0.0))
    cases = [case for _, some, _ in suites for case in some]
    seconds = results["times"]["seconds"]
    yielded = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="holdtrue" time="{seconds:.3f}" {_numbers(cases, skipped=False)}>',
    ]
    for number, (name, some, took) in enumerate(suites):
        head = f' <testsuite name={quoteattr(safe(name))} id="{number}" time="{took:.3f}"'
        stamp = f"timestamp={quoteattr(safe(results['times']['started_at']))}"
        yielded.append(f"{head} {stamp} {_numbers(some, skipped=True)}>")
        yielded += [line for case in some for line in case.lines()]
        yielded.append(" </testsuite>")
    return "\n".join([*yielded, "</testsuites>", ""])


def _numbers(cases: Sequence[Case], *, skipped: bool) -> str:
    told = {"tests": len(cases)}
    for outcome, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        if skipped or outcome != "skipped":
            told[name] = sum(case.outcome == outcome for case in cases)
    return " ".join(f'{name}="{number}"' for name, number in told.items())


def _systems(properties: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for each in properties:
        found.setdefault(safe(each["system"], 60), []).append(each)
    return found


def _property(each: Mapping[str, Any], results: Mapping[str, Any], traces: Mapping[str, Any]) -> Case:
    name = safe(f"{each['id']}: {each['sentence']}", 200)
    of = safe(each["system"], 60)
    seen = "; ".join(f"{one['words']}: {one['count']:,}" for one in each["evidence"])
    if each["verdict"] == "holds":
        return Case(of, name)
    if each["verdict"] == "not looked at":
        return Case(of, name, "skipped", "not looked at in this run")
    if each["verdict"] == "inconclusive":
        return Case(of, name, "error", safe(f"not seen often enough: {seen}"))
    broken = [
        failure
        for failure in results["failures"]
        if (failure["system"], failure["property"]) == (each["system"], each["id"])
    ]
    if not broken:
        return Case(of, name, "failure", safe(f"violated: {seen}"))
    many = f" (the worst of {len(broken)})" if len(broken) > 1 else ""
    message = safe(f"{broken[0]['clause']}: {broken[0]['title']}{many}")
    return Case(of, name, "failure", message, _told(broken, results, traces))


def _told(broken: Sequence[Mapping[str, Any]], results: Mapping[str, Any], traces: Mapping[str, Any]) -> str:
    trace = traces.get(broken[0]["trace"])
    story = render_story(trace) if trace is not None else ["(its trace is not there)"]
    lines = ["", *story[:SHOWN_LINES]]
    lines += [f"... ({len(story) - SHOWN_LINES} more lines)"] if len(story) > SHOWN_LINES else []
    lines += ["", f"reproduce: {safe(commands.reproduce(results, broken[0]), 4000)}"]
    for other in broken[1 : SHOWN_OTHERS + 1]:
        lines += ["", safe(f"also: {other['clause']}: {other['title']}")]
        lines += [f"reproduce: {safe(commands.reproduce(results, other), 4000)}"]
    hidden = len(broken) - 1 - SHOWN_OTHERS
    lines += ["", f"... and {hidden} more: see results.json"] if hidden > 0 else []
    return "\n".join([*lines, ""])


def _phase(phase: Mapping[str, Any]) -> Iterator[Case]:
    of = safe(phase["name"], 60)
    ended = f"all {phase['planned']} jobs end"
    missing = phase["planned"] - phase["done"]
    if phase["lost"]:
        told = "\n".join(safe(f"{one['runner']} {one['why']}: {one['told']}") for one in phase["lost"][:20])
        yield Case(of, ended, "error", f"{len(phase['lost'])} lost, {missing} without a result", told)
    elif missing:
        yield Case(of, ended, "error", f"{missing} were cut")
    else:
        yield Case(of, ended)
    below = {key: (seen, floor) for key, seen, floor in phase["below_floor"]}
    for group, keys in _groups(phase["floors"]).items():
        short = [key for key in keys if key in below]
        name = safe(f"seen: {group}", 200)
        if not short:
            yield Case(of, name)
            continue
        told = "\n".join(safe(f"{key}: {below[key][0]}, floor {below[key][1]}") for key in short[:50])
        yield Case(of, name, "error", f"{len(short)} of {len(keys)} seen too rarely", told)


def _groups(floors: Mapping[str, int]) -> dict[str, list[str]]:
    """Keys of floors by what they are of: the first two parts, or three of another system's."""
    groups: dict[str, list[str]] = {}
    for key in floors:
        parts = key.split("/")
        groups.setdefault("/".join(parts[: 3 if parts[0] == "ledger" else 2]), []).append(key)
    return groups


def _verdict(results: Mapping[str, Any], others: Sequence[Case]) -> Case:
    """The verdict itself: an error if nothing else says why the run has not passed."""
    word, line = results["verdict"]["word"], verdict_line(results)
    told = any(case.outcome in ("failure", "error") for case in others)
    if word == "PASSED" or told:
        return Case("run", "the run has a verdict")
    return Case("run", "the run has a verdict", "error", line)
