"""What the design wants once exists once: each idea is made in one place, which all others use.

Where Python processes start is in tests/core/test_python_processes.py.
"""

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache

import pytest

from embedlab.core import plugins
from embedlab.core.names import task_names
from embedlab.core.paths import PACKAGE


@cache
def trees() -> Mapping[str, ast.Module]:
    """Every module of the package by its path."""
    files = sorted(PACKAGE.rglob("*.py"))
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in files
    }


@cache
def walked(tree: ast.AST) -> list[ast.AST]:
    """Every node of TREE."""
    return [*ast.walk(tree)]


@cache
def nodes() -> Mapping[str, list[ast.AST]]:
    """Every node of each module."""
    return {name: walked(tree) for name, tree in trees().items()}


@cache
def called(node: ast.AST) -> frozenset[str]:
    """What NODE calls, as it is written, and behind a dot its last name; nothing of what is no
    call.
    """
    if not isinstance(node, ast.Call):
        return frozenset()
    name = ast.unparse(node.func)
    return frozenset({name, "." + name.rpartition(".")[2]})


def calls(*names: str) -> Callable[[ast.AST], bool]:
    """Whether a node calls one of NAMES; what begins with a dot is called of anything."""
    return lambda node: not called(node).isdisjoint(names)


def puts_in_place(node: ast.AST) -> bool:
    """Whether a node puts a finished file or folder in the place of what was there."""
    match node:
        case ast.Call(
            func=ast.Attribute(attr="replace", value=ast.Name(id=of)), args=[ast.Name(id=to)]
        ):
            return of == "os" or to in {"path", "target", "file"}
        case ast.Call(func=ast.Attribute(attr="replace" | "rename", value=ast.Name(id="os"))):
            return True
    return False


def declares_an_option(node: ast.AST) -> bool:
    """Whether a node declares an option or argument for Typer."""
    return isinstance(node, ast.Attribute) and ast.unparse(node) in {
        "typer.Option",
        "typer.Argument",
    }


def lets_a_task_evaluate(node: ast.AST) -> bool:
    """Whether a node calls the method of a task that evaluates a model, which takes four
    arguments.
    """
    return calls(".evaluate")(node) and len(node.args) == 4  # type: ignore[attr-defined]


def takes_the_metric_off(node: ast.AST) -> bool:
    """Whether a node takes the metric off the name of a number."""
    return calls(".removesuffix")(node) and ".metric}" in ast.unparse(node)


def begins_a_page(node: ast.AST) -> bool:
    """Whether a node is the text that begins a page."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return False
    return "<!doctype html" in node.value.lower()


def locks_a_file(node: ast.AST) -> bool:
    """Whether a node imports what locks files."""
    match node:
        case ast.Import(names=names):
            return any(one.name in LOCKS for one in names)
        case ast.ImportFrom(module=module):
            return module in LOCKS
    return False


LOCKS = {"fcntl", "filelock", "portalocker", "msvcrt"}


def marks_a_table(node: ast.AST) -> bool:
    """Whether a node writes a parquet file with metadata, as the table of an entry is."""
    keywords = getattr(node, "keywords", [])
    return calls(".write_parquet")(node) and "metadata" in {one.arg for one in keywords}


def writes_a_file(node: ast.AST) -> bool:
    """Whether a node writes a file by its path, where a killed process leaves half of it."""
    if calls(".open")(node):
        modes = {one.value for one in node.args if isinstance(one, ast.Constant)}  # type: ignore[attr-defined]
        return not modes.isdisjoint({"w", "wb", "x", "xb", "w+b", "r+b"})
    return calls(".write_text", ".write_bytes", ".save_file", ".save_pretrained")(node)


# What is made in one place, and where.
IDEAS = {
    "the comparison": (
        calls("ComparedSlice", "Difference", "SliceScore"),
        ("analysis/comparison.py",),
    ),
    "what is compared, for any task": (calls("TaskComparison"), ("scoring/task_comparison.py",)),
    "an evaluation": (calls("Evaluation"), ("tasks/task.py",)),
    "the name of a slice": (takes_the_metric_off, ("analysis/evidence.py",)),
    "the evaluation of a member": (lets_a_task_evaluate, ("scoring/results.py",)),
    "the frame of outcomes": (  # of several frames together, of members, of the dashboard
        calls("Outcomes"),
        ("outcomes/frame.py", "outcomes/stored.py"),
    ),
    "the signature": (calls("Signature"), ("runs/evaluations.py", "runs/signature.py")),
    "a table with a column a model": (calls("_model_cells"), ("reports/scores.py",)),
    "the page": (begins_a_page, ("reports/pages.py",)),
    "the atomic writer": (puts_in_place, ("core/disk.py",)),
    "the lock": (locks_a_file, ("core/disk.py",)),
    "the seal of content": (calls("seal", "is_intact"), ("core/disk.py",)),
    "the folder with a seal": (  # and models, which have a card that users edit
        calls("write_checksums"),
        ("core/disk.py", "encoders/checkpoint.py"),
    ),
    "the table with our mark": (marks_a_table, ("core/frame_files.py",)),
    "the file of an array": (calls("np.save", "np.savez", "np.tofile"), ("training/batching.py",)),
    # --version, and all options of commands
    "what is typed": (declares_an_option, ("cli/app.py", "cli/declared.py")),
    "the reader of fields": (
        calls("csv.reader", "csv.DictReader", "pl.read_csv", "pl.scan_csv"),
        ("core/frame_files.py", "data/text_file.py"),
    ),  # of our own tables, of users
}


def places(makes: Callable[[ast.AST], bool]) -> Iterator[str]:
    """Yield the modules with a node that MAKES is true of."""
    for name, own in nodes().items():
        if any(map(makes, own)):
            yield name


@pytest.mark.parametrize("name", IDEAS)
def test_an_idea_is_made_in_one_place(name: str) -> None:
    makes, files = IDEAS[name]
    assert tuple(places(makes)) == files


# Files that are written by their path: each is inside a folder that is put in place as a whole, or
# nothing is lost with half of it.
BY_PATH = {
    "core/crash_reports.py": "a report for a human",
    "core/disk.py": "the writer",
    "encoders/checkpoint.py": "in the folder of a model",
    "encoders/partial_vectors.py": "in the folder of unfinished vectors, then put in place",
    "encoders/random_encoder.py": "in the folder of a model",
    "encoders/layers.py": "in the folder of a model",
    "encoders/vector_cache.py": "the name of the encoder, for `cache`",
    "encoders/word_head.py": "in the folder of a model",
    "models/published.py": "in the folder of a model",
    "training/checkpointing.py": "in the folder of a checkpoint",
}


def test_what_is_stored_is_written_by_the_one_writer() -> None:
    assert {*places(writes_a_file)} == {*BY_PATH}


def tables_of_names(tree: ast.AST, names: set[str]) -> Iterator[int]:
    """Yield the lines of TREE with a tuple, list, set or dictionary of two or more of NAMES."""
    for node in walked(tree):
        members = (
            node.elts
            if isinstance(node, ast.Tuple | ast.List | ast.Set)
            else node.keys
            if isinstance(node, ast.Dict)
            else []
        )
        if len({one.value for one in members if isinstance(one, ast.Constant)} & names) > 1:
            yield node.lineno  # type: ignore[attr-defined]


def test_no_table_outside_tasks_and_data_lists_tasks_or_datasets() -> None:
    names = {*task_names(), *(one.name for one in plugins.discover("datasets") if one.is_shipped)}
    assert len(names) > 50
    assert list(
        tables_of_names(
            ast.parse("A = ('sts12', 'mr')\nB = {'sts': 1}\nC = {'glue': 1, 'mr': 2}"), names
        )
    ) == [1, 3]
    others = {
        name: tree for name, tree in trees().items() if not name.startswith(("tasks/", "data/"))
    }
    assert [
        f"{name}:{line}" for name, tree in others.items() for line in tables_of_names(tree, names)
    ] == []


def flags(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the words and the help of each flag that TREE declares with both."""
    for node in walked(tree):
        if calls("Flag")(node):
            given = {one.arg: ast.unparse(one.value) for one in node.keywords}  # type: ignore[attr-defined]
            yield given.get("names", given.get("metavar", "")), given.get("help", "")


def test_an_option_that_commands_share_is_declared_once() -> None:
    found = [one for tree in trees().values() for one in flags(tree)]
    assert len(found) > 80
    assert [one for one, count in Counter(found).items() if count > 1] == []
