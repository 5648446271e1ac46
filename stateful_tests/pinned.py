"""The pinned corpus: traces that are replayed before anything else is tried, each with a reason.

The files are what counts; `stateful_tests.stories` is how most of them were written. A counterexample that
was once found and mended belongs here, too: `holdtrue pin` adds it, with the reason why it is kept.
"""

from pathlib import Path

from stateful_tests.system import COORDINATOR
from stateful_tests.trace import Trace, load

DIRECTORY = Path(__file__).parent / "corpus"


LEDGERS = "ledger-"
"""What the names of the second system's traces begin with."""


def names(system: str | None = None) -> tuple[str, ...]:
    """The names of all pinned traces, or of those of one system, in order."""
    found = sorted(path.stem for path in DIRECTORY.glob("*.json"))
    if system is None:
        return tuple(found)
    return tuple(name for name in found if name.startswith(LEDGERS) == (system != COORDINATOR))


def pinned(name: str) -> Trace:
    """The pinned trace of that name. `TraceError` if it can't be read."""
    return load(DIRECTORY / f"{name}.json")
