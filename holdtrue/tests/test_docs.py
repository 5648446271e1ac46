"""The pages say what is so: commands, exit codes, limits, methods, codes, points; and the example runs."""

import re
import subprocess
import sys
from pathlib import Path

import impl
from crash_tests.wire.crowd import STANDING_S
from crash_tests.wire.racing import BUDGETS
from holdtrue.exits import Exit
from holdtrue.options import PROFILES
from impl.coordinator import Coordinator
from impl.gated import LEDGER_CODES
from impl.points import COORDINATOR_POINTS, LEDGER_POINTS
from reports.scope import NOT_CHECKED, OF_RACES

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
STORE = (ROOT / "docs" / "store.md").read_text("utf-8")
PROTOCOL = (ROOT / "docs" / "protocol.md").read_text("utf-8")
YOURS = (ROOT / "docs" / "your-own-store.md").read_text("utf-8")
FIRST_SCREEN = 20
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)


def words(text: str) -> str:
    return " ".join(text.replace("*", "").replace("- ", "").split())


def test_the_first_screen_of_the_readme_has_exactly_the_two_commands() -> None:
    screen = "\n".join(README.splitlines()[:FIRST_SCREEN])
    assert re.findall(r"^(make \w+)", screen, re.MULTILINE) == ["make check", "make test"]


def test_the_readme_has_real_output_and_nothing_left_to_fill_in() -> None:
    assert "@@" not in README + STORE
    assert re.search(r"^PASSED  quick, seed 0: [\d,]+ jobs", README, re.MULTILINE)


def test_the_readmes_example_runs(tmp_path: Path) -> None:
    (example,) = PYTHON.findall(README)
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert "active=1" in done.stdout


def test_the_readme_names_every_exit_code_and_profile() -> None:
    for code in Exit:
        assert re.search(rf"^\| {int(code)}[ ,]", README, re.MULTILINE), code
    for profile in PROFILES:
        assert f"| `{profile}` |" in README


def test_the_readme_says_what_is_not_checked_as_the_summary_does() -> None:
    section = README.partition("## What is not checked")[2].partition("## Layout")[0]
    said = words(section).lower()
    for limit in NOT_CHECKED:
        first = re.split(r"[.;,(]", limit)[0]
        assert words(first).lower() in said


def test_the_stores_page_names_every_point_code_and_operation() -> None:
    for point in COORDINATOR_POINTS:
        assert f"`{point.value}`" in STORE
    for code in impl.CODES:
        assert f"| `{code}` |" in STORE
    public = {name for name in vars(Coordinator) if not name.startswith("_")}
    for name in public - {"directory", "closed", "close", "call"}:
        assert f"`{name}(" in STORE, name


def test_the_ledgers_page_names_every_point_and_code() -> None:
    page = (ROOT / "docs" / "ledger.md").read_text("utf-8")
    for name in (*LEDGER_POINTS, *LEDGER_CODES):
        assert f"`{name}`" in page, name


def test_the_ledgers_example_runs(tmp_path: Path) -> None:
    example, *_ = PYTHON.findall((ROOT / "docs" / "ledger.md").read_text("utf-8"))
    for told in ("committed", "noop"):
        done = subprocess.run(
            [sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.stderr, done.stdout) == ("", f"{told} {{'run-1': 'started'}}\n")


def test_how_long_one_stands_still_and_at_how_many_calls_is_told_as_it_is() -> None:
    assert f" {STANDING_S:g} s " in OF_RACES
    assert PROTOCOL.count(f"{STANDING_S:g} seconds") == 2
    assert f"more than {STANDING_S:g} seconds" in YOURS
    number = {2: "two calls", 8: "eight", 60: "sixty"}
    quick, ci, deep = (number[BUDGETS[profile].calls] for profile in ("quick", "ci", "deep"))
    assert f"`quick` comes to {quick} of each race, `ci` to {ci}, `deep` to {deep}." in words(PROTOCOL)
