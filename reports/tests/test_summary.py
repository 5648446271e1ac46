"""What a person sees of a run, compared with golden files."""

from reports.coverage import KINDS
from reports.figures import FIGURES
from reports.ledger_coverage import KINDS as LEDGER_KINDS
from reports.ledger_coverage import PREFIX
from reports.plain import COLUMNS
from reports.summary import render_summary
from reports.tests.golden import same_as_golden
from reports.tests.samples import HOSTILE, phase, results

COUNTS = {
    "rule/reserve/accepted": 1200,
    "rule/reserve/CAPACITY_EXCEEDED": 31,
    "rule/commit/ADMISSION_BINDING_CONFLICT": 7,
    "rule/commit/accepted": 12_345,
    "rule/advanceClock/accepted": 2_345_678,
    "invariant/S8": 100,
    "witness/S8": 3,
    "witness/S10": 90,
}
KILLS = {
    "kill/reserve/state-rename-before": 40,
    "kill/reserve/state-write-torn": 2,
    "kill/open/mkdir-after": 9,
}


def test_a_passed_run_shows_what_was_covered_and_what_was_not_checked() -> None:
    seen = results(
        phase("conformance", counts=COUNTS, floors={"witness/S8": 1, "rule/reserve/accepted": 100}),
        phase("kills", counts=KILLS),
    )
    seen["times"]["figures"] = {
        "kills: kill trials per second": 1234.5,
        "kills: kill trials / bare fork + SIGKILL + wait": 0.1312,
        "conformance: ratio": 0.6312,
        "kills: a rate that nobody knows": 7,
    }
    same_as_golden("passed", render_summary(seen))


def test_an_inconclusive_run_shows_what_is_missing() -> None:
    below = [[f"rule/commit/CODE_{at}", 0, 1] for at in range(20)]
    lost = {
        "runner": "a:b",
        "params": {"seed": 3},
        "why": "died",
        "told": "killed by SIGKILL",
        "details": "1\n2",
    }
    seen = results(
        phase("corpus", done=3, lost=[lost] * 5),
        phase("conformance", floors=dict.fromkeys((str(key) for key, _, _ in below), 1), below_floor=below),
        left_out=["kills"],
        not_begun=["invariants"],
    )
    same_as_golden("inconclusive", render_summary(seen))


def test_a_phase_that_was_cut_short_does_not_list_all_that_it_did_not_come_to() -> None:
    below = [[f"rule/commit/CODE_{at}", 0, 1] for at in range(20)]
    told = render_summary(results(phase("kills", done=3, out_of_time=9, below_floor=below)))
    assert "kills was cut short: 20 floors not reached, see results.json" in told
    assert not any("CODE_0" in line for line in told)


def test_long_names_and_figures_fit_in_80_columns() -> None:
    long = "line-edited/SQLITE_MIRROR_COMMIT_AFTER_LEDGER_FAILED"
    names = [f"{kind}/{name}" for kind in KINDS for name in (long, "other")]
    names += [f"{PREFIX}{kind}/{name}" for kind in LEDGER_KINDS for name in (long, "other")]
    seen = results(phase("conformance", counts={name: 1_000 + len(name) for name in names}))
    seen["times"]["figures"] = {
        name: 1_234.0 if figure.floor is None else 0.01 for name, figure in FIGURES.items()
    }
    assert [line for line in render_summary(seen) if len(line) > COLUMNS] == []


def test_hostile_names_are_harmless() -> None:
    hostile = phase(HOSTILE, counts={f"rule/{HOSTILE}/{HOSTILE}": 1, f"kill/{HOSTILE}/{HOSTILE}": 1})
    hostile["lost"] = [dict.fromkeys(("runner", "params", "why", "told", "details"), HOSTILE)]
    hostile["below_floor"] = [[HOSTILE, 0, 1]]
    lines = render_summary(results(hostile, left_out=[HOSTILE]))
    assert all(line.isprintable() and line.isascii() for line in lines)
