"""What imports what, with every import counted, deferred ones and those for types alone too; and
how long files and functions are.
"""

import ast
from collections.abc import Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter

from embedlab.core.paths import PACKAGE


@cache
def imports() -> Mapping[str, frozenset[str]]:
    """The modules of the package that each of them imports."""
    files = {
        ".".join(("embedlab", *path.relative_to(PACKAGE).with_suffix("").parts)): path
        for path in PACKAGE.rglob("*.py")
    }
    modules = {name.removesuffix(".__init__"): path for name, path in files.items()}
    found: dict[str, frozenset[str]] = {}
    for name, path in modules.items():
        nodes = [
            node
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom)
        ]
        wanted = {(str(node.module), one.name) for node in nodes for one in node.names}
        full = {
            f"{module}.{own}" if f"{module}.{own}" in modules else module for module, own in wanted
        }
        found[name] = frozenset((full & modules.keys()) - {name})
    return found


def circle(graph: Mapping[str, frozenset[str]]) -> list[str]:
    """One circle of a graph; empty where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_the_graph_is_that_of_the_package() -> None:
    assert len(imports()) > 300
    assert "embedlab.core.errors" in imports()["embedlab.core.paths"]
    assert circle({"a": frozenset("b"), "b": frozenset("a")})


def test_no_file_imports_itself_by_way_of_others() -> None:
    assert circle(imports()) == []


def siblings(package: str) -> Mapping[str, frozenset[str]]:
    """What each file and package directly inside PACKAGE imports of the others there."""
    found: dict[str, set[str]] = {}
    for name, wanted in imports().items():
        own, *others = (child(package, one) for one in (name, *wanted))
        if own:
            found.setdefault(own, set()).update(one for one in others if one and one != own)
    return {name: frozenset(wanted) for name, wanted in found.items()}


def child(package: str, name: str) -> str:
    """The file or package directly inside PACKAGE that NAME is of; empty outside."""
    inside = name.removeprefix(f"{package}.")
    return f"{package}.{inside.split('.')[0]}" if inside != name else ""


def test_no_package_imports_itself_by_way_of_others() -> None:
    packages = {name.rpartition(".")[0] for name in imports()} - {""}
    assert {"embedlab", "embedlab.tui"} <= packages
    assert {package: found for package in packages if (found := circle(siblings(package)))} == {}


def test_nothing_inside_imports_the_package_itself() -> None:
    assert [name for name, found in imports().items() if "embedlab" in found] == []
