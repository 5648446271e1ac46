"""The marked points, the hook, and that no file call goes around `impl.disk`.

Guarantees: each declared point is passed in some scenario; a hook can fail, tear or kill at it.

Doesn't: look at what is left behind after a kill. The crash tests do, for every operation.
"""

import ast
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import impl
from impl import disk
from impl.tests.derive_store import uuid
from impl.tests.workbench import Bench, Caller, refusal, workbench

PACKAGE = Path(impl.__file__).parent


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


def test_every_declared_point_is_passed_in_some_scenario(bench: Bench) -> None:
    seen: set[disk.CrashPoint] = set()
    former = disk.install(seen.add)
    try:
        call = Caller(bench.open(), bench)
        call.reserve(1)
        (bench.directory / f"coordinator.json.{'0' * 32}.tmp").touch()
        Caller(bench.open(), bench)("snapshot")
    finally:
        disk.install(former)
    assert seen == set(disk.COORDINATOR_POINTS)


def test_every_step_has_a_point_before_and_after_and_a_write_one_in_between() -> None:
    steps = {point.rpartition("-")[0] for point in disk.CrashPoint}
    for step in steps:
        moments = {point.rpartition("-")[2] for point in disk.CrashPoint if point.rpartition("-")[0] == step}
        torn = {"torn"} if step.endswith(("write", "append")) else set()
        assert moments == {"before", "after"} | torn


def test_a_torn_write_has_really_written_the_first_half(bench: Bench) -> None:
    call = Caller(bench.open(), bench)
    sizes: list[int] = []

    def look(point: disk.CrashPoint) -> None:
        if point in (disk.CrashPoint.STATE_WRITE_TORN, disk.CrashPoint.STATE_WRITE_AFTER):
            sizes.extend(path.stat().st_size for path in bench.directory.glob("*.tmp"))

    former = disk.install(look)
    try:
        call.reserve(1)
    finally:
        disk.install(former)
    assert sizes == [sizes[1] // 2, sizes[1]]


def test_kill_at_strikes_at_the_nth_arrival() -> None:
    child = os.fork()
    if child == 0:
        try:
            strike = disk.kill_at(disk.CrashPoint.STATE_FSYNC_AFTER, 2)
            strike(disk.CrashPoint.STATE_FSYNC_BEFORE)
            strike(disk.CrashPoint.STATE_FSYNC_AFTER)
            strike(disk.CrashPoint.STATE_FSYNC_AFTER)
        finally:
            os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL


@pytest.mark.parametrize(
    "text", ["state-write", "nowhere:1", "state-write-torn:0", "state-write-torn:x", ":"]
)
def test_a_bad_crash_point_in_the_environment_is_refused_and_the_points_are_named(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv(disk.CRASH_ENV, text)
    error = refusal(lambda: bench.open(), "COMMAND_FAILED")
    assert "state-write-torn" in error.message
    assert not bench.directory.exists()


def test_the_environment_kills_an_opening_process_at_the_given_point(bench: Bench) -> None:
    program = (
        "import sys; from impl.tests.workbench import Bench; from pathlib import Path\n"
        "Bench(Path(sys.argv[1])).open()"
    )
    environment = {**os.environ, disk.CRASH_ENV: "identity-write-torn"}
    done = subprocess.run(
        [sys.executable, "-c", program, str(bench.root)],
        env=environment,
        cwd=PACKAGE.parent,
        check=False,
        timeout=60,
    )
    assert done.returncode == -signal.SIGKILL
    assert bench.state.exists()
    assert not bench.identity.exists()
    Caller(bench.open(), bench).reserve(1)
    assert not list(bench.directory.glob("*.tmp"))


def test_a_hook_may_fail_a_step_and_its_error_is_an_io_error(bench: Bench) -> None:
    call = Caller(bench.open(), bench)

    def fail(point: disk.CrashPoint) -> None:
        if point is disk.CrashPoint.LOCK_ACQUIRE_BEFORE:
            raise OSError(5, "the hook said so")

    former = disk.install(fail)
    try:
        error = refusal(lambda: call.reserve(1), "DURABILITY_FAILED", side_effects="unknown")
    finally:
        disk.install(former)
    assert "the hook said so" in error.message
    call.reserve(1)


WATCHED = """
import os, sys, traceback
from pathlib import Path
import impl
from impl import disk
from impl.tests.workbench import Caller, uuid, workbench

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
with workbench() as bench:
    watching[0] = True
    call = Caller(bench.open(), bench)
    call.admitted(1)
    (bench.directory / ("coordinator.json." + "0" * 32 + ".tmp")).touch()
    Caller(bench.open(), bench)("snapshot")
    impl.read_durable_epoch(bench.directory)
    impl.audit_directory(bench.directory)
    watching[0] = False
assert {"open", "os.rename", "os.mkdir", "os.listdir", "os.remove"} <= seen, seen
assert not strays, strays
"""


def test_no_file_call_of_the_store_goes_around_the_disk_module() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WATCHED],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_no_other_module_even_imports_what_could_touch_a_file() -> None:
    """`os` gives three names of types and paths elsewhere; `points` reads the environment and kills."""
    harmless = {"PathLike", "fspath", "stat_result"}
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE).as_posix()
        if "tests/" in module or module in ("disk.py", "disklog.py", "lockfile.py", "points.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = _imported(node)
            for name in names & {"os", "pathlib", "fcntl", "shutil", "io", "glob", "tempfile", "mmap"}:
                assert isinstance(node, ast.ImportFrom), (module, name)
                assert {alias.name for alias in node.names} <= harmless, (module, name)
            assert not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "open"), module


def _imported(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, ast.ImportFrom):
        return {(node.module or "").partition(".")[0]}
    return set()


def test_the_store_imports_nothing_of_the_model_and_no_heavy_library_before_it_is_used() -> None:
    program = "import sys, impl; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"model", "stateful_tests", "crash_tests", "reports", "holdtrue"}
    assert not loaded & {"cattrs", "hypothesis", "networkx", "rich"}


def test_a_read_passes_the_points_of_the_lock_and_of_the_two_files_in_order(bench: Bench) -> None:
    seen: list[disk.CrashPoint] = []
    call = Caller(bench.open(), bench)
    former = disk.install(seen.append)
    try:
        call("readReservation", id=uuid(1))
    finally:
        disk.install(former)
    assert seen == [
        disk.CrashPoint.LOCK_ACQUIRE_BEFORE,
        disk.CrashPoint.LOCK_ACQUIRE_AFTER,
        disk.CrashPoint.IDENTITY_READ_BEFORE,
        disk.CrashPoint.IDENTITY_READ_AFTER,
        disk.CrashPoint.STATE_READ_BEFORE,
        disk.CrashPoint.STATE_READ_AFTER,
        disk.CrashPoint.LOCK_RELEASE_BEFORE,
        disk.CrashPoint.LOCK_RELEASE_AFTER,
    ]
