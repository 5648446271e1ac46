"""How a check shows that it goes on: a bar on a terminal, plain lines elsewhere.

A plain line comes when a phase begins and ends, and every ten seconds between. `rich` is imported only on a
terminal.
"""

import time
from types import TracebackType
from typing import Protocol, Self

from holdtrue.out import Printer

EVERY_S = 10.0


class Progress(Protocol):
    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def done(self, weight: float) -> None:
        """A job of this weight has ended."""

    def tick(self) -> None:
        """Time has passed."""


class PlainProgress:
    """Lines such as `conformance: 12 of 40 jobs, 8.1 s`."""

    def __init__(self, printer: Printer, name: str, about: str, jobs: int) -> None:
        self._printer, self._name, self._about, self._jobs = printer, name, about, jobs
        self._done = 0
        self._started = self._said = time.monotonic()

    def __enter__(self) -> Self:
        self._printer.line(f"{self._name}: {self._about}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._say()

    def done(self, weight: float) -> None:  # noqa: ARG002  # as Progress has it
        self._done += 1

    def tick(self) -> None:
        if time.monotonic() - self._said >= EVERY_S:
            self._say()

    def _say(self) -> None:
        self._said = time.monotonic()
        seconds = self._said - self._started
        self._printer.line(f"{self._name}: {self._done:,} of {self._jobs:,} jobs, {seconds:.1f} s")


class BarProgress:
    """A bar that moves by weight, and leaves one plain line behind.

    Until a job has ended nobody knows how fast this goes, and the bar only shows that it is alive. From then
    on it moves between ends as fast as it did until the last one, by less than the heaviest job's weight.
    """

    def __init__(self, printer: Printer, name: str, about: str, weights: list[float]) -> None:
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        jobs = len(weights)
        self._plain = PlainProgress(printer, name, about, jobs)
        self._bar = Bar(
            TextColumn("{task.description:<12}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[share]:>4}"),
            TextColumn("{task.fields[done]} jobs"),
            TimeElapsedColumn(),
            transient=True,
        )
        self._jobs = jobs
        self._ended = 0
        self._task = self._bar.add_task(name, total=None, done=f"0/{jobs}", share="")
        self._weight, self._reach = sum(weights) or 1.0, 0.9 * max(weights, default=0.0)
        self._weight_done = self._shown = 0.0
        self._began = self._last = time.monotonic()

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
        self._plain.__exit__(kind, error, trace)

    def done(self, weight: float) -> None:
        self._plain.done(weight)
        self._ended += 1
        self._weight_done += weight
        self._last = time.monotonic()
        self._show(self._weight_done)

    def tick(self) -> None:
        if self._ended:
            speed = self._weight_done / max(self._last - self._began, 0.001)
            guessed = min(speed * (time.monotonic() - self._last), self._reach)
            self._show(min(self._weight_done + guessed, 0.99 * self._weight))

    def _show(self, weight: float) -> None:
        self._shown = max(self._shown, weight)
        self._bar.update(
            self._task,
            total=self._weight,
            completed=self._shown,
            done=f"{self._ended}/{self._jobs}",
            share=f"{100 * self._shown / self._weight:.0f}%",
        )


def progress(printer: Printer, name: str, about: str, weights: list[float]) -> Progress:
    """The progress of a phase whose jobs have these weights."""
    if printer.terminal:
        return BarProgress(printer, name, about, weights)
    return PlainProgress(printer, name, about, len(weights))
