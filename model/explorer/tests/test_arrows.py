"""The explorer does no I/O, imports nothing of ours but the model, and is imported when it is used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import model.explorer

ROOT = Path(model.explorer.__file__).parent
MODULES = sorted(path for path in ROOT.rglob("*.py") if "tests" not in path.parts)
GENERIC = [path for path in MODULES if path.parent in (ROOT, ROOT / "packed")]
ALLOWED = {
    "__future__",
    "attrs",
    "collections",
    "functools",
    "html",
    "itertools",
    "json",
    "math",
    "typing",
} | {
    "model",
    "networkx",
    "numpy",
    "re",
}
"""`facet.py` besides imports the space that a facet names when it is asked for it."""


def imports(path: Path) -> list[str]:
    """The modules that a module imports, wherever in it."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, path
            found.append(node.module or "")
    return found


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_a_module_imports_only_what_is_pure(path: Path) -> None:
    allowed = ALLOWED | {"importlib"} if path.name == "facet.py" else ALLOWED
    assert {name.partition(".")[0] for name in imports(path)} <= allowed


@pytest.mark.parametrize("path", GENERIC, ids=named)
def test_the_engines_know_nothing_of_what_they_explore(path: Path) -> None:
    assert all(name.startswith("model.explorer") for name in imports(path) if name.startswith("model"))
    assert not any(name.startswith("model.explorer.coordinator") for name in imports(path))


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_a_module_begins_with_what_it_is_and_fits_on_some_screens(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text))
    assert text.count("\n") <= 300
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < 70, node.name


def test_the_model_is_imported_without_the_explorer() -> None:
    code = (
        "import sys, model, model.gated, model.explorer, model.invariants, model.walk, model.forms\n"
        "late = {'numpy', 'networkx', 'model.explorer.packed', 'model.explorer.reference'}\n"
        "sys.exit(', '.join(sorted(late & set(sys.modules))) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
