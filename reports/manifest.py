"""The manifest of a run's folder: one line for each file, as `sha256sum` writes and checks it.

    (cd RUN && sha256sum --strict --check manifest.sha256)

Lines are sorted by name. A name with a backslash or a line break is escaped as GNU's sha256sum does: the line
then begins with a backslash. The manifest does not list itself.
"""

import re
from collections.abc import Mapping

NAME = "manifest.sha256"
_LINE = re.compile(r"(\\?)([0-9a-f]{64}) [ *](.+)\Z")
_ESCAPES = {"\\\\": "\\", "\\n": "\n", "\\r": "\r"}


class ManifestError(ValueError):
    """A manifest that can't be read. The message names the line."""


def manifest(digests: Mapping[str, str]) -> str:
    """The manifest of files by name, with their SHA-256 in hexadecimal."""
    return "".join(_line(name, digests[name]) for name in sorted(digests))


def parse(text: str) -> dict[str, str]:
    """The digests by name. ManifestError for a line of another form, or a name that occurs twice."""
    digests: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line:
            continue
        found = _LINE.match(line)
        if found is None:
            raise ManifestError(f"line {number} is not of the form '<64 hex digits>  <name>'")
        name = found[3]
        if found[1]:
            name = re.sub(r"\\[\\nr]", lambda one: _ESCAPES[one.group()], name)
        if name in digests:
            raise ManifestError(f"line {number} names {name!r} a second time")
        digests[name] = found[2]
    return digests


def _line(name: str, digest: str) -> str:
    shown = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return f"{'' if shown == name else chr(92)}{digest}  {shown}\n"
