"""No public name of a function or a class is shared by two modules, so that a reader who finds one
knows which it is.

Names are parallel on purpose where a listing finds what a file exports: each objective's
`options.py` exports the same names. The function of a command has the name that users type, and so
does the one that notebooks call; no other module may use it. A file that runs as a program has
`main`.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from embedlab.core.names import objective_names
from embedlab.core.paths import PACKAGE

TYPED = ("cli/commands/", "workflows/notebook")  # names that users type
DECORATOR = "table"  # what plug-ins write above their options, and `embedlab grid table`
PROGRAM = "main"


def public_names(tree: ast.Module) -> Iterator[str]:
    """Yield the public functions and classes of a module."""
    for node in tree.body:
        if isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        ) and not node.name.startswith("_"):
            yield node.name


def is_program(tree: ast.Module) -> bool:
    """Return whether a module runs as a program, or is the entry point of one."""
    return any(
        "__name__" in ast.unparse(node.test) for node in tree.body if isinstance(node, ast.If)
    )


def shared_names(folder: Path) -> dict[str, set[str]]:
    """Return the public names that several modules below FOLDER define, with the modules."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in folder.rglob("*.py"):
        name, tree = (
            path.relative_to(folder).as_posix(),
            ast.parse(path.read_text(encoding="utf-8")),
        )
        # A registry counts as one module: its files export the same names by contract.
        module = (
            "objectives/*/options.py"
            if path.name == "options.py" and name.startswith("objectives/")
            else name
        )
        module = "typed" if name.startswith(TYPED) else module
        for own in set(public_names(tree)) - (
            {PROGRAM} if is_program(tree) or name == "cli/app.py" else set()
        ):
            found[own].add(module)
    return {own: modules for own, modules in found.items() if len(modules) > 1}


def test_no_public_name_is_shared_by_two_modules() -> None:
    assert shared_names(PACKAGE) == {DECORATOR: {"core/schema.py", "typed"}}


def test_a_shared_name_is_found_and_a_private_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "first.py").write_text("class Session: ...\ndef _own(): ...\ndef main(): ...\n")
    (tmp_path / "second.py").write_text(
        "def Session(): ...\ndef _own(): ...\nif __name__ == '__main__': main()\ndef main(): ...\n"
    )
    assert shared_names(tmp_path) == {"Session": {"first.py", "second.py"}}


def test_a_command_and_its_function_in_python_share_a_name_that_no_other_module_has(
    tmp_path: Path,
) -> None:
    for name, names in (
        ("cli/commands/grid/run.py", "run"),
        ("workflows/notebook.py", "run"),
        ("cli/commands/a.py", "load"),
        ("b.py", "load"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"def {names}(): ...\n")
    assert shared_names(tmp_path) == {"load": {"typed", "b.py"}}


def test_every_objective_exports_the_names_of_the_registry() -> None:
    for name in objective_names():
        tree = ast.parse((PACKAGE / "objectives" / name / "options.py").read_text(encoding="utf-8"))
        assert {"Options", "needs", "describe"} <= set(public_names(tree)), name
