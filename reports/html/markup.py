"""HTML that can only be made of escaped text: elements are built by functions, never by joining strings.

`Html` is markup that is known to be well-formed; every other child of an element is text, and is escaped.
Text goes through `reports.plain.safe` first, so that control characters, ANSI escapes, bidirectional marks
and lone surrogates are shown as `\\x1b`, `\\u202e`, `\\ud800` and can neither break the page nor reorder it.
Attribute values are treated alike. No element here can hold script, style or a handler.

It does not know which element may stand in which: the validator in the tests does.
"""

from collections.abc import Iterable
from html import escape
from typing import Any

from attrs import frozen

from reports.plain import safe

LIMIT = 400
"""Characters of one text that are shown, unless `text` is told otherwise."""
_LONGEST_ATTRIBUTE = 8000
_VOID = frozenset({"br", "hr", "path", "rect", "line", "circle", "polygon", "use"})
"""Written without a closing tag; those of SVG are closed at once."""
_INLINE = frozenset(
    {"a", "abbr", "b", "bdi", "br", "code", "em", "kbd", "small", "span", "strong", "tspan", "text", "title"}
    | {"desc", "th", "td", "rect", "circle", "path", "use"}
)
"""After these the page's source goes on in the same line."""
_FORBIDDEN = frozenset({"script", "style", "iframe", "object", "embed", "base", "form", "link", "meta"})


@frozen
class Html:
    """Markup. Made by `el`, `text` and `join` alone."""

    markup: str

    def __bool__(self) -> bool:
        return bool(self.markup)


Child = Html | str | int | None
NOTHING = Html("")


def text(value: object, limit: int = LIMIT) -> Html:
    """`value` as text, harmless, of at most `limit` characters; what was left out is said."""
    return Html(escape(_clean(value, limit), quote=True))


def el(tag: str, *children: Child, **attributes: Any) -> Html:
    """An element. `class_` means class, and other underscores in names of attributes mean hyphens.

    An attribute that is None or False is left out; one that is True stands without a value.
    """
    assert tag not in _FORBIDDEN, tag
    shown = "".join(
        _attribute(name, value)
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    end = "" if tag in _INLINE else "\n"
    if tag in _VOID and not any(child is not None for child in children):
        return Html(f"<{tag}{shown}>" if tag in ("br", "hr") else f"<{tag}{shown}/>")
    return Html(f"<{tag}{shown}>{join(children).markup}</{tag}>{end}")


def join(children: Iterable[Child], between: str = "") -> Html:
    """Children one after another, `between` (text) in between."""
    return Html(escape(between).join(_child(child) for child in children if child is not None))


def code(value: object, limit: int = LIMIT) -> Html:
    """`value` as it stands in a file or on a command line, apart from the direction of what is around it."""
    return el("code", text(value, limit))


def link(to: str, *children: Child, **attributes: Any) -> Html:
    """A link to a place in this page (`#...`) or to a file of the run (see `file_link`)."""
    return el("a", *children, href=to, **attributes)


def file_link(name: object, *children: Child) -> Html:
    """A link to a file of the run by its path within the run's folder.

    A name that could lead anywhere else is shown as text, without a link.
    """
    shown = children or (code(name, 120),)
    if not isinstance(name, str) or not _stays_within(name):
        return join(shown)
    return link(name, *shown)


def _stays_within(name: str) -> bool:
    parts = name.split("/")
    known = all(character.isascii() and (character.isalnum() or character in "._-/") for character in name)
    return known and bool(parts[0]) and len(name) < 300 and all(part not in ("", ".", "..") for part in parts)


def _child(child: Child) -> str:
    return child.markup if isinstance(child, Html) else text(child).markup


def _attribute(name: str, value: object) -> str:
    name = name.rstrip("_").replace("_", "-")
    assert not name.startswith("on"), name
    return (
        f" {name}" if value is True else f' {name}="{escape(_clean(value, _LONGEST_ATTRIBUTE), quote=True)}"'
    )


def _clean(value: object, limit: int) -> str:
    raw = value if isinstance(value, str) else str(value)
    # Most texts are harmless as they are, and looking at each character is what costs time.
    return raw if len(raw) <= limit and raw.isascii() and raw.isprintable() else safe(raw, limit)
