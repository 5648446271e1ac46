"""What the wire costs: checked actions over it against checked actions in process, of the same store.

The same actions go through model and store in this process and through model and `serve` in another one, in
turns, on fresh stores side by side. Seconds are of two kinds: those that pass, and those of the processors,
the other process' included; the ratio with a floor is that of the processors' seconds, since waiting for a
busy machine's other core says nothing about the protocol. Changes of files from outside are left out.

On a disk both wait for it, so this says something for RAM-backed places alone.

`python -m stateful_tests.wire.rates` prints the figures.
"""

import contextlib
import os
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from attrs import define

from model import walk as walks_of_model
from model.actions import Action
from stateful_tests.lockstep import Lockstep
from stateful_tests.pair import StepRecord
from stateful_tests.rates import FoundError, plain_actions
from stateful_tests.replay import workspace
from stateful_tests.target import StoreTarget
from stateful_tests.wire.lockstep import WireLockstep
from stateful_tests.wire.target import Command, Session, WireTarget

_SERVE = (
    "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]); "
    "from stateful_tests.wire.serve import serve; "
    "sys.exit(serve(Path(sys.argv[2]), sys.stdin.buffer, sys.stdout.buffer))"
)


def own_store() -> Command:
    """This project's own store as a target, by this very interpreter, wherever one stands."""
    words = [sys.executable, "-P", "-c", _SERVE, str(Path(__file__).resolve().parents[2]), "{directory}"]
    return Command(shlex.join(words))


@define
class _Spent:
    """Seconds that passed, and seconds of processors."""

    passed: float = 0.0
    processors: float = 0.0


def measure(seed: int, *, rounds: int, steps: int = 150) -> Mapping[str, float]:
    """Rates per second that passed, and both ratios, over `rounds` walks. `FoundError` if the store is
    broken."""
    count, wired, inside = 0, _Spent(), _Spent()
    with _on_one_processor(), contextlib.closing(Session(own_store())) as session:
        for number in range(rounds):
            actions = plain_actions(walks_of_model.draw, f"wire-rates/{seed}/{number}", steps)
            count += len(actions)
            with workspace() as root:
                _side_by_side(actions, root, session, wired, inside)
    return {
        "wire/actions_per_s": round(count / wired.passed, 1),
        "wire/in_process_actions_per_s": round(count / inside.passed, 1),
        "wire/ratio_passed": round(inside.passed / wired.passed, 3),
        "wire/ratio": round(inside.processors / wired.processors, 3),
    }


@contextlib.contextmanager
def _on_one_processor() -> Iterator[None]:
    """The two processes take turns, so one processor is enough for them.

    To be woken on another one, on a machine that has much else to do, can cost as much as the store's own
    work, and says nothing of the wire.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def _side_by_side(
    actions: Sequence[Action], root: Path, session: Session, wired: _Spent, inside: _Spent
) -> None:
    target: WireTarget = session.target(root / "wired")
    pid = target.talk.process.pid
    with StoreTarget(root / "inside") as alone:
        pairs = (WireLockstep(target), wired), (Lockstep(alone), inside)
        before, records = _processor_seconds(pid), list[StepRecord]()
        for number, action in enumerate(actions):
            # In turns: whoever comes second finds the caches warm.
            for pair, spent in pairs if number % 2 else reversed(pairs):
                passed, used = time.perf_counter(), time.thread_time()
                record = pair.step(action)
                spent.processors += time.thread_time() - used
                spent.passed += time.perf_counter() - passed
                if pair is pairs[1][0]:
                    records.append(record)
                if record.divergence is not None:
                    raise FoundError([*records[: record.index], record])
        wired.processors += _processor_seconds(pid) - before
    target.close()


def _processor_seconds(pid: int) -> float:
    """What the process has used so far; 0 where the kernel doesn't tell."""
    try:
        told = Path(f"/proc/{pid}/schedstat").read_text("ascii")
    except OSError:
        return 0.0
    return int(told.split()[0]) / 1e9


if __name__ == "__main__":
    for name, figure in measure(0, rounds=20).items():
        print(f"{name:32} {figure:10}")
