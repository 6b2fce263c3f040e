"""The size of the code by package: files, lines, classes, functions, statements and syntax nodes.

    python benchmarks/nodes.py [FOLDER]

Nodes of annotations and docstrings do not count: leaving them out makes nothing simpler.
"""

import argparse
import ast
from collections import defaultdict
from pathlib import Path

FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
COLUMNS = ("files", "lines", "classes", "functions", "statements", "nodes")


def counted(tree: ast.AST) -> list[ast.AST]:
    """Return the nodes below TREE but for annotations and docstrings."""
    nodes: list[ast.AST] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        skipped = {id(getattr(node, name, None)) for name in ("annotation", "returns")}
        if isinstance(node, ast.Module | ast.ClassDef | FUNCTIONS) and ast.get_docstring(node):
            skipped.add(id(node.body[0]))
        waiting += [child for child in ast.iter_child_nodes(node) if id(child) not in skipped]
    return nodes


def sizes(root: Path) -> dict[str, list[int]]:
    """Return the numbers of COLUMNS for each package below ROOT, the largest first, then of all."""
    found: dict[str, list[int]] = defaultdict(lambda: [0] * len(COLUMNS))
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        nodes = counted(ast.parse(text))
        kinds = [
            sum(isinstance(node, kind) for node in nodes)
            for kind in (ast.ClassDef, FUNCTIONS, ast.stmt)
        ]
        package = found[path.relative_to(root).parts[0]]
        for place, value in enumerate((1, text.count("\n"), *kinds, len(nodes))):
            package[place] += value
    rows = sorted(found.items(), key=lambda item: -item[1][-1])
    return dict([*rows, ("all", [sum(column) for column in zip(*found.values(), strict=True)])])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("embedlab"))
    folder = parser.parse_args().folder
    print(f"{'package':24}" + "".join(f"{column:>12}" for column in COLUMNS))
    for name, size in sizes(folder).items():
        print(f"{name:24}" + "".join(f"{value:12,}" for value in size))


if __name__ == "__main__":
    main()
