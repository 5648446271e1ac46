"""Run folders for tests: examples written as a run would leave them, and checks of our own phases."""

import io
import json
from pathlib import Path
from typing import Any

from holdtrue.check import Options, check
from holdtrue.out import Printer
from holdtrue.phases import Phase
from holdtrue.rendering import FORMS, rendered
from reports.canonical import canonical, clean
from reports.tests.examples import EXAMPLES, Example


def write_run(folder: Path, example: str | Example) -> Path:
    """The folder of an example run, with results and traces; returns it."""
    found = EXAMPLES[example] if isinstance(example, str) else example
    results = clean(found.results)
    (folder / "traces").mkdir(parents=True)
    (folder / "results.json").write_bytes(canonical(results))
    for name, trace in found.traces.items():
        (folder / name).write_text(json.dumps(trace), "ascii")
    for form, made in FORMS.items():
        (folder / made.file).write_bytes(rendered(form, results, found.traces))
    return folder


def check_run(out: Path, *phases: Phase, **options: Any) -> tuple[int, Path, list[str]]:
    """The exit code of a check of those phases, its run's folder, and the lines that it printed."""
    stream = io.StringIO()
    given = {"workers": 2, **options}
    code = check(Options(out=out, **given), phases=phases, printer=Printer(stream))
    return code, (out / "latest").resolve(), stream.getvalue().splitlines()
