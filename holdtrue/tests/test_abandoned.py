"""What a killed command leaves is removed by the next one; what a live one needs, or is another's, stays."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdtrue.abandoned import OWNER, PREFIX, owned, remove_abandoned
from holdtrue.scratch import scratch

OWNING = """
import sys
from pathlib import Path
from holdtrue.abandoned import owned
with owned(Path(sys.argv[1])) as place:
    (place / "store").mkdir()
    print(place, flush=True)
    sys.stdin.read()
"""


def owner(base: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process that owns a folder in `base` until its input ends, and that folder."""
    command = [sys.executable, "-P", "-c", OWNING, str(base)]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_the_folder_of_a_killed_process_is_removed_and_that_of_a_live_one_stays(tmp_path: Path) -> None:
    killed, left = owner(tmp_path)
    living, needed = owner(tmp_path)
    with killed, living:
        assert remove_abandoned(tmp_path) == 0
        killed.kill()
        killed.wait()
        assert remove_abandoned(tmp_path) == 1
        assert (left.exists(), needed.exists()) == (False, True)
        assert living.stdin is not None
        living.stdin.close()
        assert living.wait() == 0
        assert not needed.exists()


def test_a_child_that_is_started_meanwhile_does_not_hold_the_lock(tmp_path: Path) -> None:
    script = OWNING.replace(
        "print(place",
        "import subprocess\n    child = subprocess.Popen(['sleep', '600'])\n    print(place, child.pid",
    )
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", script, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(Path(__file__).resolve().parents[2]), "PATH": os.environ["PATH"]},
    )
    with process:
        assert process.stdout is not None
        place, pid = process.stdout.readline().split()
        process.kill()
        process.wait()
        try:
            assert remove_abandoned(tmp_path) == 1
            assert not Path(place).exists()
        finally:
            os.kill(int(pid), 9)


def test_what_is_not_known_to_be_abandoned_is_left_alone(tmp_path: Path) -> None:
    strangers = {
        name: tmp_path / f"{PREFIX}{name}" for name in ("being-made", "open", "fifo", "file", "link")
    }
    for name in ("being-made", "open", "fifo"):
        strangers[name].mkdir(mode=0o700)
    strangers["open"].chmod(0o755)
    (strangers["open"] / OWNER).touch()
    os.mkfifo(strangers["fifo"] / OWNER)
    strangers["file"].touch()
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o700)
    (outside / OWNER).touch()
    strangers["link"].symlink_to(outside)
    other = tmp_path / "holdtrue-other"
    other.mkdir(mode=0o700)
    (other / OWNER).touch()
    assert remove_abandoned(tmp_path) == 0
    assert all(os.path.lexists(place) for place in strangers.values())
    assert (outside / OWNER).exists()
    assert (other / OWNER).exists()
    assert remove_abandoned(tmp_path / "nowhere") == 0


def test_a_command_removes_what_was_left_where_it_works_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    killed, left = owner(tmp_path)
    with killed:
        killed.kill()
        killed.wait()
    assert left.exists()
    with scratch() as place:
        assert not left.exists()
        assert place.parent == tmp_path
        with owned(tmp_path) as another, scratch() as third:
            assert len({place, another, third}) == 3
            assert place.exists()
            assert another.exists()
    assert list(tmp_path.iterdir()) == []
