"""What was checked is told exactly: commit, changes, hashes; what can't be known is said to be unknown."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from holdtrue.provenance import ROOT, code, environment


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project under git, with everything committed."""
    root = tmp_path / "project"
    for package in ("model", "impl"):
        (root / package).mkdir(parents=True)
        (root / package / "a.py").write_text("A = 1\n", "ascii")
    (root / "requirements.lock").write_text("attrs==1\n", "ascii")
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        git(root, *command)
    return root


def git(root: Path, *arguments: str) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    environment = {"PATH": os.environ["PATH"], "HOME": os.fspath(root)}
    subprocess.run(
        ["git", "-C", root, *who, *arguments], check=True, stdin=subprocess.DEVNULL, env=environment
    )


def test_a_clean_commit_is_told_as_such(project: Path) -> None:
    told = code(project)
    assert re.fullmatch(r"[0-9a-f]{40}", str(told["commit"]))
    assert told["dirty"] is False
    assert code(project) == told


def test_a_change_or_a_new_file_makes_it_dirty_and_changes_the_hash_of_the_sources(project: Path) -> None:
    clean = code(project)
    (project / "model" / "b.py").write_text("B = 1\n", "ascii")
    new = code(project)
    assert (new["dirty"], new["commit"]) == (True, clean["commit"])
    assert new["source_sha256"] != clean["source_sha256"]
    (project / "model" / "b.py").unlink()
    assert code(project) == clean


def test_the_lock_file_has_a_hash_of_its_own(project: Path) -> None:
    before = code(project)
    (project / "requirements.lock").write_text("attrs==2\n", "ascii")
    after = code(project)
    assert before["lock_sha256"] != after["lock_sha256"]
    assert before["source_sha256"] == after["source_sha256"]
    (project / "requirements.lock").unlink()
    assert code(project)["lock_sha256"] is None


def test_without_git_or_a_repository_the_commit_is_unknown(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = code(project)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", "/nowhere")
        told = code(project)
        assert (told["commit"], told["dirty"]) == (None, None)
        assert told["source_sha256"] == known["source_sha256"]
    shutil.rmtree(project / ".git")  # it may lie within some other repository, which says nothing about it
    assert code(project)["commit"] is None


def test_run_output_and_caches_play_no_part(project: Path) -> None:
    known = code(project)["source_sha256"]
    (project / "reports" / "out").mkdir(parents=True)
    (project / "reports" / "out" / "results.json").write_text("{}", "ascii")
    (project / "model" / "__pycache__").mkdir()
    (project / "model" / "__pycache__" / "a.pyc").write_text("x", "ascii")
    assert code(project)["source_sha256"] == known


def test_the_environment_names_the_machine_and_the_file_system(tmp_path: Path) -> None:
    told = environment(
        run="r", folder="f", command=["holdtrue"], workers=3, scratch=tmp_path, invocation="holdtrue"
    )
    assert told["workers"] == 3
    assert re.search(r"\d+ GiB$", str(told["machine"]))
    kinds = subprocess.run(
        ["stat", "-f", "-c", "%T", tmp_path],
        check=True,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    shown = kinds.stdout.strip()
    assert told["filesystem"] in (
        shown,
        *{"ext2/ext3": ("ext4", "ext3", "ext2"), "overlayfs": ("overlay",)}.get(shown, ()),
    )


def test_our_own_project_is_known() -> None:
    told = code()
    assert (ROOT / "holdtrue").is_dir()
    assert re.fullmatch(r"[0-9a-f]{64}", str(told["source_sha256"]))
    assert re.fullmatch(r"[0-9a-f]{64}", str(told["lock_sha256"]))
