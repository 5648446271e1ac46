"""The marked points of the ledger, and that nothing goes around the modules that announce them."""

import ast
import subprocess
import sys
from pathlib import Path

import impl
from impl import disk
from impl.gated import open_ledger
from impl.gated.tests.bench import adding, failing, hooked, refused
from impl.gated.tests.test_recovery_struck import in_every_need
from impl.points import LEDGER_POINTS, CrashPoint

PACKAGE = Path(impl.__file__).parent


def test_every_declared_point_is_passed_in_some_scenario(directory: Path) -> None:
    seen: set[CrashPoint] = set()
    in_every_need(directory)
    with hooked(seen.add):
        open_ledger(directory).close()
        with open_ledger(directory.parent / "new") as ledger:
            ledger.transact(adding("k"))
            ledger.transact(adding("k"))
    with failing("ledger-fsync-before") as passed, open_ledger(directory) as ledger:
        refused(lambda: ledger.transact(adding("k9")), "LEDGER_APPEND_REQUIRED_FAILED", "rollback")
    seen |= set(map(CrashPoint, passed))
    assert set(LEDGER_POINTS) <= seen, sorted(set(LEDGER_POINTS) - seen)


def test_the_points_of_the_two_systems_are_told_apart() -> None:
    assert set(LEDGER_POINTS) | set(disk.COORDINATOR_POINTS) == set(CrashPoint)
    assert not set(LEDGER_POINTS) & set(disk.COORDINATOR_POINTS)


def test_a_torn_append_has_really_written_the_first_half(directory: Path) -> None:
    sizes: list[int] = []

    def look(point: CrashPoint) -> None:
        if point in (CrashPoint.LEDGER_APPEND_TORN, CrashPoint.LEDGER_APPEND_AFTER):
            sizes.append((directory / "ledger.jsonl").stat().st_size)

    with open_ledger(directory) as ledger, hooked(look):
        ledger.transact(adding("k"))
    assert sizes == [sizes[1] // 2, sizes[1]]


WATCHED = """
import os, sys, traceback
from pathlib import Path
import impl
from impl import disk
from impl.gated import audit_ledger, open_ledger
from impl.gated.tests.bench import a_directory, adding, failing
from impl.gated.tests.test_recovery_struck import in_every_need

package = os.path.dirname(os.path.abspath(impl.__file__)) + os.sep
allowed = {package + name for name in ("disk.py", "disklog.py", "lockfile.py")}
events = ("open", "os.", "fcntl.", "shutil.", "glob.", "tempfile.", "pathlib.")
watching, strays, seen = [False], [], set()

def hook(event, arguments):
    if not watching[0] or not event.startswith(events) or event in ("os.fork", "os.register_at_fork"):
        return
    ours = [f.f_code.co_filename for f in frames() if f.f_code.co_filename.startswith(package)]
    ours = [name for name in ours if os.sep + "tests" + os.sep not in name]
    if ours and importing():
        return
    seen.add(event)
    if ours and ours[0] not in allowed:
        strays.append((event, arguments, ours[0]))

def frames():
    frame = sys._getframe(2)
    while frame is not None:
        yield frame
        frame = frame.f_back

def importing():
    return any("importlib" in f.f_code.co_filename for f in frames())

sys.addaudithook(hook)
with a_directory() as directory:
    in_every_need(directory)
    watching[0] = True
    with open_ledger(directory) as ledger:
        ledger.transact(adding("k8"))
        try:
            with failing("ledger-fsync-before"):
                ledger.transact(adding("k9"))
        except Exception:
            pass
        audit_ledger(directory)
    audit_ledger(directory)
    watching[0] = False
assert {"open", "os.rename", "os.truncate", "os.listdir"} <= seen, seen
assert not strays, strays
"""


def test_no_file_call_of_the_store_goes_around_the_disk_modules_except_sqlites_own() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WATCHED],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_only_one_module_connects_to_a_database() -> None:
    for path in sorted((PACKAGE / "gated").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr == "connect":
                owner = node.value
                if isinstance(owner, ast.Name) and owner.id == "sqlite3":
                    assert path.name == "connection.py", path


def test_the_coordinator_alone_loads_neither_sqlite_nor_the_ledger() -> None:
    program = "import sys, impl; print('sqlite3' in sys.modules, 'impl.gated' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split() == ["False", "False"]
    assert impl.open_ledger is open_ledger
