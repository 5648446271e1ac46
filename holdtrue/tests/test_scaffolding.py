"""The lock file pins everything by hash and names no index; CI runs what the README promises."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "requirements.lock").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def name_of(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found is not None
    return re.sub(r"[-_.]+", "-", found.group()).lower()


def pinned() -> dict[str, str]:
    """Each pinned requirement, by name, with all that belongs to it."""
    blocks = re.split(r"\n(?=[a-z0-9])", LOCK.split("\n", 0)[0])
    return {name_of(block): block for block in blocks if block[:1].isalnum()}


def test_every_pinned_requirement_has_a_version_and_a_hash() -> None:
    for name, block in pinned().items():
        assert re.match(rf"{re.escape(name)}==[\w.]+ \\\n    --hash=sha256:[0-9a-f]{{64}}", block), name


def test_all_that_the_project_asks_for_is_pinned_the_build_backend_too() -> None:
    asked = PROJECT["project"]["dependencies"] + PROJECT["project"]["optional-dependencies"]["dev"]
    assert {name_of(each) for each in asked + PROJECT["build-system"]["requires"]} <= set(pinned())


def test_the_lock_names_no_address() -> None:
    assert "://" not in LOCK
    assert "index" not in LOCK
    assert "find-links" not in LOCK


def test_every_package_is_installed_and_type_checked() -> None:
    packages = {
        path.parent.name for path in ROOT.glob("*/__init__.py") if not path.parent.name.startswith(".")
    }
    assert set(PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]) >= {
        f"{name}*" for name in packages
    }
    assert set(PROJECT["tool"]["mypy"]["packages"]) >= packages


def test_ci_runs_the_tests_by_the_readmes_command_and_ends_with_the_check() -> None:
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert "set -euo pipefail" in lines
    assert "make test" in lines
    assert lines[-1] == "make check ARGS='--profile ci'"


def test_in_ci_no_test_is_skipped_for_want_of_a_tool() -> None:
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    told = next(at for at, line in enumerate(lines) if "HOLDTRUE_TOOLS=required" in line and "export" in line)
    assert told < lines.index("make test")


@pytest.mark.parametrize("script", ["run", "tools"])
def test_the_scripts_of_ci_are_whole(script: str) -> None:
    path = ROOT / ".ci" / script
    subprocess.run(["bash", "-n", path], check=True, stdin=subprocess.DEVNULL)
    assert path.stat().st_mode & 0o111


def test_tools_are_brought_without_running_what_they_bring() -> None:
    told = (ROOT / ".ci" / "tools").read_text("utf-8")
    assert "--ignore-scripts" in told
    install = next(line for line in told.splitlines() if "vnu-jar" in line)
    packages = install.partition("</dev/null")[0].split()
    assert packages
    assert all(re.fullmatch(r"(@[\w-]+/)?[\w-]+@\d+\.\d+\.\d+", package) for package in packages)
