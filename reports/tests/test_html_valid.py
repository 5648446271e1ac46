"""The audit page is valid HTML: the Nu validator of the W3C says nothing against it.

The validator comes from npm as `vnu-jar`, and needs Java.
"""

import json
import subprocess
from pathlib import Path

from reports.html import render
from reports.tests.examples import EXAMPLES
from reports.tests.tools import npm_package, tool

_GUESSES = ("Inline style violates Content Security Policy", "This document appears to be written in")
"""The validator knows no hashes in a policy (that the browser takes this one is a test of its own), and takes
hostile text for Maltese."""


def complaints(*files: Path) -> list[str]:
    java = tool("java")
    jar = npm_package("vnu-jar") / "build" / "dist" / "vnu.jar"
    command = [java, "-jar", str(jar), "--format", "json", "--stdout", "--exit-zero-always"]
    ended = subprocess.run(
        [*command, *map(str, files)], capture_output=True, text=True, timeout=300, check=True
    )
    return [
        f"{Path(one['url']).name}:{one.get('lastLine')}: {one['message']}"
        for one in json.loads(ended.stdout)["messages"]
        if not one["message"].startswith(_GUESSES)
    ]


def test_the_validator_has_nothing_to_say_against_the_page_and_something_against_a_broken_one(
    tmp_path: Path,
) -> None:
    files = []
    for name, example in EXAMPLES.items():
        files.append(tmp_path / f"{name}.html")
        files[-1].write_text(render(example.results, example.traces), encoding="utf-8")
    broken = tmp_path / "broken.html"
    broken.write_text(files[0].read_text("utf-8").replace("<dd>", "<p>", 1), encoding="utf-8")
    found = complaints(*files, broken)
    assert [one for one in found if not one.startswith("broken.html")] == []
    assert [one for one in found if one.startswith("broken.html")] != []
