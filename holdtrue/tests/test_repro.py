"""A failure's own test fails under pytest as the check did, with the story; mended, it passes."""

from pathlib import Path

import pytest

from holdtrue.performing import NoTraceError
from holdtrue.replay import check_trace
from holdtrue.tests.planted import SOUND, run, trace_of
from reports.repro import render

RESULTS = {"profile": "quick", "seed": 0, "code": {"holdtrue": "0.1.0"}}
CASES = (
    ("capacity-off-by-one", "walk", False),
    ("in-place-write", "kill", False),
    ("commit-before-append", "corpus", True),
)


@pytest.mark.parametrize(("fault", "way", "ledger"), CASES, ids=[case[0] for case in CASES])
def test_it_fails_with_the_fault_and_passes_without(
    fault: str, way: str, ledger: bool, tmp_path: Path
) -> None:
    file, trace = tmp_path / "test_it.py", trace_of(fault, way, ledger=ledger)
    file.write_text(render(trace, RESULTS), encoding="ascii")
    asked = ("pytest", "-p", "no:cacheprovider", "-q", file.name)
    failing = run(fault, *asked, cwd=tmp_path, ledger=ledger)
    assert failing.returncode == 1, failing.stdout
    assert "STILL FAILING" in failing.stdout
    assert trace["clause"] in " ".join(failing.stdout.replace("\nE  ", "").split())
    assert "1 failed" in failing.stdout
    mended = run(SOUND, *asked, cwd=tmp_path)
    assert mended.returncode == 0, mended.stdout
    assert "1 passed" in mended.stdout


def test_what_no_longer_fits_does_not_pass() -> None:
    step = {"action": {"do": "readEpoch"}, "expected": {"accepted": 7}, "observed": None}
    trace = {"schema_version": 1, "name": "t", "why": "w", "steps": [step]}
    with pytest.raises(AssertionError, match="DRIFTED  t: step 1"):
        check_trace(trace)
    with pytest.raises(NoTraceError, match=r"trace\.schema_version"):
        check_trace({**trace, "schema_version": 99})
