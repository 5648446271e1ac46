"""On a network file system the kernel's lock keeps nobody out, so a directory there is refused.

No such file system can be mounted in a test; the table of mounts is text, and told here.
"""

import pytest

from impl import disk
from impl.mounts import network_kind
from impl.tests.workbench import refusal, workbench

ROOT = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw"


def table(*mounts: tuple[str, str]) -> str:
    """The kernel's own form: optional fields vary, blanks in a mount point are octal."""
    lines = [ROOT]
    for number, (point, kind) in enumerate(mounts, 30):
        optional = ("", " shared:2", " shared:2 master:1")[number % 3]
        lines.append(
            f"{number} 22 0:{number} / {point} rw,nosuid{optional} - {kind} server:/export rw,vers=4"
        )
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "fuse.sshfs", "lustre", "afs"])
def test_a_network_mount_is_recognised_by_its_kind(kind: str) -> None:
    for path in ("/mnt/net", "/mnt/net/store", "/mnt/net/a/b/c"):
        assert network_kind(table(("/mnt/net", kind)), path) == kind


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "zfs", "fuse.ext4"])
def test_a_local_mount_is_none(kind: str) -> None:
    assert network_kind(table(("/mnt/disk", kind)), "/mnt/disk/store") is None


def test_only_whole_components_of_a_path_lie_on_a_mount() -> None:
    text = table(("/mnt/net", "nfs"))
    for path in ("/mnt/network", "/mnt/net2/store", "/mnt", "/", "/other/mnt/net"):
        assert network_kind(text, path) is None


def test_the_deepest_and_latest_mount_counts() -> None:
    assert network_kind(table(("/mnt", "nfs"), ("/mnt/local", "xfs")), "/mnt/local/store") is None
    assert network_kind(table(("/mnt", "xfs"), ("/mnt/net", "nfs")), "/mnt/net/store") == "nfs"
    assert network_kind(table(("/mnt", "xfs"), ("/mnt", "nfs")), "/mnt/store") == "nfs"
    assert network_kind(table(("/mnt", "nfs"), ("/mnt", "xfs")), "/mnt/store") is None
    assert network_kind(table(("/", "nfs")), "/store") == "nfs"


def test_odd_characters_in_a_mount_point_are_understood() -> None:
    assert network_kind(table((r"/mnt/my\040net", "nfs")), "/mnt/my net/store") == "nfs"
    assert network_kind(table((r"/mnt/tab\011here", "nfs")), "/mnt/tab\there/store") == "nfs"
    assert network_kind(table((r"/mnt/back\134slash", "nfs")), "/mnt/back\\slash/store") == "nfs"


def test_a_table_that_is_nonsense_or_missing_hides_nothing_and_breaks_nothing() -> None:
    for text in ("", "\n\n", "nonsense", "1 2 3 - \n", " - nfs", "\0" * 100, ROOT):
        assert network_kind(text, "/store") is None
    assert network_kind("garbage\n" + table(("/mnt", "nfs")), "/mnt/store") == "nfs"


def test_a_directory_on_a_network_file_system_is_refused_before_anything_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with workbench() as bench:
        monkeypatch.setattr(disk, "mount_table", lambda: table((str(bench.root), "nfs4")))
        error = refusal(lambda: bench.open(), "DURABILITY_FAILED")
        assert "nfs4" in error.message
        assert not bench.directory.exists()
