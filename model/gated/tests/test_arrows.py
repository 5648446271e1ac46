"""The model of the ledger imports nothing of ours but itself, and nothing impure."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import model.gated

ROOT = Path(model.gated.__file__).parent
MODULES = sorted(ROOT.glob("*.py"))
ALLOWED = {"ast", "attrs", "collections", "hashlib", "json", "model", "re", "typing"}


def imported(path: Path) -> set[str]:
    """The top-level packages that a module imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, path
            found.add((node.module or "").partition(".")[0])
    return found


@pytest.mark.parametrize("path", MODULES, ids=[path.stem for path in MODULES])
def test_a_module_imports_only_what_is_pure(path: Path) -> None:
    assert imported(path) <= ALLOWED


@pytest.mark.parametrize("path", MODULES, ids=[path.stem for path in MODULES])
def test_a_module_calls_nothing_that_does_io(path: Path) -> None:
    forbidden = {"open", "print", "input", "exec", "eval", "__import__", "breakpoint"}
    called = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert called.isdisjoint(forbidden)


@pytest.mark.parametrize("path", MODULES, ids=[path.stem for path in MODULES])
def test_a_module_begins_with_what_it_guarantees_and_fits_on_some_screens(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text))
    assert text.count("\n") <= 300


@pytest.mark.parametrize("path", MODULES, ids=[path.stem for path in MODULES])
def test_a_function_fits_on_a_screen(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < 70, node.name


def test_the_model_is_imported_without_the_others() -> None:
    code = (
        "import sys, model.gated.invariants, model.gated.walk, model.gated.classification\n"
        "ours = {'impl', 'stateful_tests', 'crash_tests', 'reports', 'holdtrue', 'hypothesis', 'networkx'}\n"
        "sys.exit(', '.join(sorted(ours & {name.partition('.')[0] for name in sys.modules})) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
