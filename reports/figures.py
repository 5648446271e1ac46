"""What a run measured, in words, with the floors that the ratios should keep.

The rates say something only beside each other; the ratios compare two of them that were measured in turns, in
one run, by the same process. A ratio below its floor is shown and named on the verdict's line, and changes no
verdict: a figure can't tell a slow harness from a slow moment.
"""

from collections.abc import Mapping, Sequence

from attrs import frozen


@frozen
class Figure:
    words: str
    floor: float | None = None


FIGURES: Mapping[str, Figure] = {
    "conformance: ratio": Figure("checked actions / bare store operations", 0.5),
    "conformance: checked_actions_per_s": Figure("  checked actions per CPU second"),
    "conformance: bare_operations_per_s": Figure("  bare store operations per CPU second"),
    "conformance: wire/ratio": Figure("checked actions over the wire / in process", 0.5),
    "conformance: wire/ratio_passed": Figure("  the same, by the clock"),
    "conformance: wire/actions_per_s": Figure("  over the wire, per second"),
    "conformance: wire/in_process_actions_per_s": Figure("  in process, per second"),
    "kills: kill trials / bare fork + SIGKILL + wait": Figure(
        "kill trials / bare fork + SIGKILL + wait", 0.2
    ),
    "kills: kill trials per second": Figure("  kill trials per second"),
    "kills: bare fork + SIGKILL + wait per second": Figure("  bare fork + SIGKILL + wait per second"),
    "exploration: states per calibration loop": Figure("states explored in one calibration loop", 72_000),
    "exploration: states per CPU second, without symmetry": Figure(
        "  states per CPU second, without symmetry"
    ),
    "exploration: calibration loop, CPU seconds": Figure("  the loop: ten million additions, CPU seconds"),
    "conformance: walked_actions_per_s": Figure("random walks: actions per second and job"),
    "conformance: hypothesis_actions_per_s": Figure("Hypothesis: actions per second and job"),
    "conformance: ledger/walked_actions_per_s": Figure("ledger, random walks: actions per second and job"),
    "conformance: ledger/hypothesis_actions_per_s": Figure("ledger, Hypothesis: actions per second and job"),
}
"""By the name under which `results.json` has it, in the order in which they are shown."""


def below(figures: Mapping[str, float]) -> Sequence[str]:
    """The names of those figures that are below their floors."""
    return [
        name
        for name, figure in FIGURES.items()
        if figure.floor is not None and figures.get(name, figure.floor) < figure.floor
    ]
