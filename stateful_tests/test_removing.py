"""Whatever a store has made of its folder, the folder goes."""

import os
from pathlib import Path

from stateful_tests.removing import remove


def test_a_folder_goes_with_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_text("x", "ascii")
    remove(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_nested_deeper_than_paths_are_long_goes(tmp_path: Path) -> None:
    top, elsewhere = tmp_path / "top", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("x", "ascii")
    top.mkdir()
    here = os.open(top, os.O_RDONLY)
    for _ in range(2_500):
        os.mkdir("dd", dir_fd=here)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
        os.symlink(elsewhere, "link", dir_fd=here)
        inner = os.open("dd", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    remove(top)
    assert not top.exists()
    assert (elsewhere / "kept").exists(), "links are not followed"


def test_what_is_not_there_is_no_trouble(tmp_path: Path) -> None:
    remove(tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []
