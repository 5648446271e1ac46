"""Which package may import which, over every module of the project: `model` and `impl` above all.

Two independent tellings of the same rules are what makes their comparison worth anything, so neither may
import the other, nor anything that imports it.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("model", "impl", "stateful_tests", "crash_tests", "reports", "holdtrue", "benchmarks")
ALLOWED: dict[str, frozenset[str]] = {
    "model": frozenset(),
    "impl": frozenset(),
    "stateful_tests": frozenset({"model", "impl"}),
    "crash_tests": frozenset({"model", "impl", "stateful_tests"}),
    "reports": frozenset({"model"}),
    "holdtrue": frozenset(PACKAGES),
    "benchmarks": frozenset(PACKAGES),
}
HEAVY = ("hypothesis", "networkx")


def _modules(package: str) -> Iterator[Path]:
    for path in sorted((ROOT / package).rglob("*.py")):
        # Tests beside the machinery of `reports` and `holdtrue` may look at what they render.
        if "tests" not in path.relative_to(ROOT).parts[1:-1]:
            yield path


def _imported(path: Path) -> Iterator[str]:
    """The top-level packages that the module at `path` imports anywhere in it, by `importlib`, too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0] if not node.level else path.relative_to(ROOT).parts[0]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            for one in node.args:
                if isinstance(one, ast.Constant) and isinstance(one.value, str):
                    yield one.value.partition(".")[0]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_arrow_between_packages_is_an_allowed_one(package: str) -> None:
    wrong = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in _modules(package)
        for name in _imported(path)
        if name in PACKAGES and name != package and name not in ALLOWED[package]
    }
    assert not wrong


@pytest.mark.parametrize("package", ["model", "impl"])
def test_neither_telling_knows_the_other_in_its_tests_either(package: str) -> None:
    other = {"model": "impl", "impl": "model"}[package]
    wrong = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / package).rglob("*.py"))
        if other in set(_imported(path))
    ]
    assert not wrong


def test_the_model_does_no_io() -> None:
    forbidden = {
        "os",
        "io",
        "pathlib",
        "time",
        "datetime",
        "random",
        "secrets",
        "uuid",
        "subprocess",
        "socket",
    }
    wrong = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in _modules("model")
        for name in _imported(path)
        if name in forbidden
    }
    assert not wrong


@pytest.mark.parametrize(
    "module",
    ["stateful_tests.jobs", "stateful_tests.runners", "stateful_tests.replay", "stateful_tests.target"],
)
def test_nothing_heavy_is_imported_before_it_is_needed(module: str) -> None:
    """Forked children of a lean parent, and a replay, must not pay for Hypothesis or networkx."""
    code = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
