"""The end of a run: the verdict, and all files of the run's folder.

The order: what is made of each trace, the verdict, `results.json`, what is rendered from it, the manifest,
the folder's name. A file that can't be written or rendered is left out; the run then has not passed, and the
verdict that is shown says why, which `results.json` can't.
"""

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen

from holdtrue.cli import ENDINGS
from holdtrue.record import Record
from holdtrue.rendering import FORMS, PER_TRACE, of_trace, rendered
from holdtrue.runfolder import RunFolder, shown
from holdtrue.runs import evidence_of, newest
from holdtrue.verdict import Verdict, judge
from reports.canonical import canonical, clean
from reports.previous import changes


@frozen
class Closed:
    """The verdict that counts, the results as shown, and the traces and evidence by their files' names."""

    verdict: Verdict
    results: dict[str, Any]
    traces: Mapping[str, Any]


def close(record: Record, folder: RunFolder, out: Path) -> Closed:
    """Writes what the run leaves behind, and judges it. `out` is where older runs stand."""
    traces: dict[str, Any] = {found.file: found.failure.trace for found in record.found if found.file}
    verdict = judge(record)
    results: dict[str, Any] = record.to_json(verdict.to_json())
    _of_traces(record, folder, results)
    before = newest(out, but=folder.name)
    if before is not None:
        record.environment = {**record.environment, "previous": clean(changes(before, results))}
    results = record.to_json(verdict.to_json())
    folder.write("results.json", canonical(results))
    traces |= evidence_of(folder.inside("."), results)
    for form, made in FORMS.items():
        _add(folder, made.file, form, results, traces)
    folder.finish()
    if folder.unwritable:
        record.unwritable = f"{shown(out)} can't be written: {folder.unwritable}"
        verdict = judge(record)
        results = record.to_json(verdict.to_json())
    return Closed(verdict, results, traces)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ctrl-C and the like wait until this is over: it takes a moment, and half a folder is of no use.

    They are noted, not blocked: a library's thread, which blocks nothing, would get them instead.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread hears signals
        return
    heard: list[int] = []
    before = {number: signal.getsignal(number) for number in ENDINGS}
    minded = [number for number, handler in before.items() if handler not in (signal.SIG_IGN, None)]
    for number in minded:
        signal.signal(number, lambda arrived, _frame: heard.append(arrived))
    try:
        yield
    finally:
        for number in minded:
            signal.signal(number, before[number])
        if heard:
            signal.raise_signal(heard[0])


def _of_traces(record: Record, folder: RunFolder, results: Mapping[str, Any]) -> None:
    for index, found in enumerate(record.found):
        if not found.file or not found.kept:
            continue
        for form in PER_TRACE:
            try:
                made = of_trace(form, results, found.file, found.failure.trace)
            except Exception as error:  # noqa: BLE001  # no renderer may cost a run its verdict
                folder.missing(_failed(form, error))
                continue
            if made is not None and folder.write(*made):
                record.tell(index, **{form: made[0]})


def _add(
    folder: RunFolder, name: str, form: str, results: Mapping[str, Any], traces: Mapping[str, Any]
) -> None:
    try:
        content = rendered(form, results, traces)
    except Exception as error:  # noqa: BLE001  # no renderer may cost a run its verdict
        folder.missing(_failed(form, error))
        return
    folder.write(name, content)


def _failed(form: str, error: Exception) -> str:
    return f"{form} can't be rendered: {type(error).__name__}: {error}"[:500]
