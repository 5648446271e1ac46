"""Which kind of file system a path is on, as far as the kernel tells.

Guarantees: where there is a table of mounts, the network file systems listed here are recognised, also
below bind mounts and when one mount hides another.

Doesn't: know every file system there is. One that isn't listed is taken for a local one.
"""

from typing import Final

_NETWORK: Final = frozenset(
    {
        "9p", "afs", "beegfs", "ceph", "cifs", "coda", "fuse.ceph", "fuse.cephfs", "fuse.davfs2",
        "fuse.gcsfuse", "fuse.glusterfs", "fuse.juicefs", "fuse.mergerfs-nfs", "fuse.moosefs", "fuse.nfs",
        "fuse.rclone", "fuse.s3fs", "fuse.seaweedfs", "fuse.smbnetfs", "fuse.sshfs", "gfs2", "gpfs", "lustre",
        "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "pvfs2", "smb3", "smbfs", "vboxsf", "virtiofs",
    }
)  # fmt: skip


def network_kind(table: str, path: str) -> str | None:
    """The network file system that `path` (absolute, resolved) is on, or None.

    `table` is the text of /proc/self/mountinfo.
    """
    best = ""
    kind = None
    for line in table.splitlines():
        mount, _, rest = line.partition(" - ")
        fields = mount.split(" ")
        if len(fields) < 5 or not rest:
            continue
        point = _unescape(fields[4])
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):  # of two on one point, the later hides the earlier
            best = point
            kind = rest.split(" ")[0]
    return kind if kind in _NETWORK else None


def _unescape(point: str) -> str:
    """A mount point as the kernel writes it: blanks and backslashes as three octal digits."""
    if "\\" not in point:
        return point
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        point = point.replace(code, character)
    return point
