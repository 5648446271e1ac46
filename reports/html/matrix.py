"""The matrix: each property with its sentence, its source, each way it was looked at, and its verdict.

What is wrong or unproven comes first. A cell without a number means that the property was not looked at in
that way, which is no fault by itself; a floor that was missed is said in the cell.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from reports.html.markup import Child, Html, code, el, join, link, text
from reports.html.parts import cell, many, mark, note, section, table

_HOWS = {
    "invariant": "evaluated",
    "witness": "witnessed",
    "exploration": "explored",
    "conformance": "compared",
    "corpus": "pinned",
    "kill": "killed",
    "fault": "failed disk",
    "race": "raced",
}
"""Ways of looking, as they head a column."""
_ORDER = ("violated", "inconclusive", "not looked at", "holds")


def matrix(results: Mapping[str, Any]) -> Html:
    """A table for each system."""
    listed = results.get("properties") or []
    if not listed:
        return section("properties", "Properties and evidence", note("This run recorded no properties."))
    anchors = property_anchors(results)
    systems = list(dict.fromkeys(one["system"] for one in listed))
    tables = [_table(name, [one for one in listed if one["system"] == name], anchors) for name in systems]
    counted = {word: sum(one["verdict"] == word for one in listed) for word in _ORDER}
    told = [join([mark(word), f" {count}"]) for word, count in counted.items() if count]
    return section(
        "properties",
        "Properties and evidence",
        el("p", join(told, "  "), class_="tally"),
        note(
            "Each property has an id, a sentence, and the part of the specification that it comes from. A "
            "number is how often it was looked at in that way; a dash means never in that way. A property "
            "whose witness (a situation in which it matters) was not seen is inconclusive, however green the "
            "rest."
        ),
        *tables,
    )


def property_anchors(results: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """Where each property stands in this page, by system and id."""
    listed = results.get("properties") or []
    return {(one["system"], one["id"]): f"property-{at + 1}" for at, one in enumerate(listed)}


def clause_link(results: Mapping[str, Any], failure: Mapping[str, Any]) -> Html:
    """A failure's clause, with a link to the property of that name if there is one."""
    anchors = property_anchors(results)
    names = [str(failure[key]) for key in ("property", "clause") if failure.get(key)]
    anchor = next(
        (anchors[failure["system"], name] for name in names if (failure["system"], name) in anchors), None
    )
    shown = code(failure["clause"], 160)
    return shown if anchor is None else link(f"#{anchor}", shown)


def _table(system: str, listed: Sequence[Mapping[str, Any]], anchors: Mapping[tuple[str, str], str]) -> Html:
    seen = {each["how"] for one in listed for each in one["evidence"]}
    hows = [*(how for how in _HOWS if how in seen), *sorted(seen - _HOWS.keys())]
    order = sorted(listed, key=lambda one: _ORDER.index(one["verdict"]) if one["verdict"] in _ORDER else 0)
    rows: list[list[Child]] = [
        [
            join(
                [
                    el("span", code(one["id"], 80), id=anchors[one["system"], one["id"]]),
                    el("span", text(one["sentence"], 300), class_="sentence"),
                    el("small", text(one["source"], 120), ", ", text(one["kind"], 20), class_="source"),
                ]
            ),
            mark(one["verdict"]),
            *(_cell([each for each in one["evidence"] if each["how"] == how]) for how in hows),
        ]
        for one in order
    ]
    header: list[Child] = ["property", "verdict", *(_HOWS.get(how, how[:20]) for how in hows)]
    shown = table(
        f"Properties of the {system[:40]}: {many(len(listed), 'property', 'properties')}",
        header,
        rows,
        numbers=frozenset(range(2, 2 + len(hows))),
        class_="matrix",
    )
    return join([shown, _legend(hows, listed)])


def _cell(found: Sequence[Mapping[str, Any]]) -> Html:
    if not found:
        return cell("\N{EN DASH}", "number unlooked")
    count = sum(each["count"] for each in found)
    missed = [each for each in found if each["floor"] is not None and each["count"] < each["floor"]]
    if not missed:
        return cell(f"{count:,}", "number")
    short = f"{missed[0]['count']:,} of {missed[0]['floor']:,}"
    return cell(mark(short, "warn"), "number")


def _legend(hows: Sequence[str], listed: Sequence[Mapping[str, Any]]) -> Html:
    told: list[Child] = []
    for how in hows:
        words = dict.fromkeys(
            each["words"] for one in listed for each in one["evidence"] if each["how"] == how
        )
        said = list(words)[:3]
        more = f" and {len(words) - 3} more" if len(words) > 3 else ""
        name = el("strong", _HOWS.get(how, how[:20]))
        told.append(join([name, ": ", join([text(one, 80) for one in said], ", "), more]))
    return el("p", join(told, "; "), ".", class_="note") if told else Html("")
