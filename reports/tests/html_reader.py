"""Reads a page as strictly as these tests need, and lists what is wrong with it.

It is no validator of HTML (that is another test); it knows what this project promises of its page: no script,
no style but one, nothing that is fetched, addresses that exist, headings in order, tables with captions and
scoped headers, charts with a title, things to open with a summary.
"""

import re
from collections import Counter
from html.parser import HTMLParser
from typing import Any

from reports.html.markup import Html

VOID = frozenset({"meta", "link", "br", "hr"})
FORBIDDEN = frozenset({"script", "iframe", "object", "embed", "base", "form", "img", "video", "audio", "use"})
FETCHING = frozenset({"src", "srcset", "data", "action", "poster", "background", "xlink:href"})
HARMFUL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
"""Control characters, invisible and bidirectional marks, surrogates."""


class Reader(HTMLParser):
    """Collects what is in a page. `stack` holds what is open."""

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.headings: list[int] = []
        self.faults: list[str] = []
        self.words: list[str] = []
        self.within: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        if len(attributes) < len(attrs):
            self.faults.append(f"<{tag}> has an attribute twice")
        parent = self.stack[-1] if self.stack else ""
        self.within[f"{parent}>{tag}"] += 1
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.stack or self.stack.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing, or something else")

    def handle_data(self, data: str) -> None:
        if "style" not in self.stack:
            self.words.append(data)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of all elements of that name."""
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        return "".join(self.words)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


def said(piece: Html) -> str:
    """The words in a piece of a page, with one space between elements and none before a stop."""
    return re.sub(r" ([.,;:)])", r"\1", " ".join(" ".join(read(piece.markup).words).split()))


def faults(page: str) -> list[str]:
    """All that is wrong with a page; see the module."""
    reader = read(page)
    found = [*reader.faults, *(f"<{tag}> is open at the end" for tag in reader.stack)]
    if HARMFUL.search(page):
        found.append("a harmful character")
    ids = Counter(str(attributes["id"]) for _, attributes in reader.elements if "id" in attributes)
    found += [f"id {name} stands twice" for name, count in ids.items() if count > 1]
    for tag, attributes in reader.elements:
        found += list(_element(tag, attributes, ids))
    if reader.headings[:1] != [1] or reader.headings.count(1) != 1:
        found.append("there must be one h1, first")
    for before, after in zip(reader.headings, reader.headings[1:], strict=False):
        if after > before + 1:
            found.append(f"h{after} follows h{before}")
    for parent, child in (("table", "caption"), ("details", "summary"), ("svg", "title")):
        parents = [one for one in reader.named(parent) if one.get("aria-hidden") != "true"]
        if reader.within[f"{parent}>{child}"] != len(parents):
            found.append(f"a {parent} without {child}")
    found += ["a th without scope" for one in reader.named("th") if one.get("scope") not in ("col", "row")]
    if len(reader.named("style")) != 1:
        found.append("not one style sheet")
    for landmark in ("header", "nav", "main", "footer"):
        if len(reader.named(landmark)) != 1:
            found.append(f"not one {landmark}")
    return found


def _element(tag: str, attributes: dict[str, str | None], ids: Counter[str]) -> Any:
    if tag in FORBIDDEN:
        yield f"<{tag}>"
    for name, value in attributes.items():
        if name.startswith("on") or name == "style" or name in FETCHING:
            yield f"<{tag} {name}>"
        if name in ("aria-labelledby", "aria-describedby"):
            yield from (f"{name} leads to no {one}" for one in str(value).split() if one not in ids)
    to = attributes.get("href")
    if tag == "a" and to is not None:
        if to.startswith("#"):
            if to[1:] not in ids:
                yield f"a link to {to}, which is not there"
        elif not re.fullmatch(r"(?!/)[\w.-]+(/[\w.-]+)*", to, re.ASCII) or ".." in to.split("/"):
            yield f"a link that leads out: {to}"
