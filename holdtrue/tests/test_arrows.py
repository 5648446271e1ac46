"""Who may import whom, and that the model does no I/O: the house stands or falls with it.

`model` and `impl` are two independent tellings of the same rules; a shared line would make them agree for
the wrong reason.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = frozenset({"holdtrue", "model", "impl", "stateful_tests", "crash_tests", "reports", "benchmarks"})
MAY_IMPORT = {
    "model": frozenset[str](),
    "impl": frozenset[str](),
    "stateful_tests": frozenset({"model", "impl"}),
    "crash_tests": frozenset({"model", "impl", "stateful_tests"}),
    "reports": frozenset({"model"}),
    "holdtrue": OURS - {"benchmarks"},
}
NO_IO = frozenset(
    {"os", "io", "time", "datetime", "random", "secrets", "uuid", "pathlib", "socket", "subprocess", "sys"}
    | {"tempfile", "shutil", "threading", "multiprocessing", "signal", "logging", "hypothesis"}
)


def sources(package: str) -> list[Path]:
    """A package's own modules, without its tests."""
    found = [
        path
        for path in (ROOT / package).rglob("*.py")
        if "tests" not in path.relative_to(ROOT / package).parts
    ]
    assert found
    return found


def imported(path: Path) -> Iterator[str]:
    """The top-level names that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute here"
            yield (node.module or "").partition(".")[0]


@pytest.mark.parametrize("package", sorted(MAY_IMPORT))
def test_each_package_imports_only_what_it_may(package: str) -> None:
    allowed = MAY_IMPORT[package] | {package}
    wrong = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sources(package)
        for name in imported(path)
        if name in OURS - allowed
    }
    assert wrong == set()


def test_the_model_does_no_input_or_output() -> None:
    wrong = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sources("model")
        for name in imported(path)
        if name in NO_IO
    }
    assert wrong == set()


def test_the_model_opens_no_file() -> None:
    calls = {
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sources("model")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"open", "input", "print"}
    }
    assert calls == set()
