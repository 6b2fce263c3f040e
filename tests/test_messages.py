"""No code looks into the text of a note or an error: what depends on it depends on a kind, a reason
or a cause.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "embedlab"
# Functions that read the words of a library which has no type for what happened.
FOREIGN = {
    ("core/crash_reports.py", "cause_of"),  # torch and C++ where memory runs out
    ("data/hub.py", "_hint"),  # `datasets` on splits and configurations
    ("experiments/queue.py", "_as_error"),  # SQLite on a function of a trigger
    (
        "encoders/damaged_files.py",
        "writing_weights",
    ),  # safetensors on the number of an error of the system
    ("core/frame_files.py", "system_errors"),  # polars on the same
    (
        "analysis/expressions.py",
        "_regex",
    ),  # the regular expressions of polars on what is wrong with one
    ("cpu/linear.py", "flaw"),  # torch, whose first line is shown
}
TEXTS = {"note", "remark", "message", "hint", "reason"}
LOOKS = {
    *(
        "startswith",
        "endswith",
        "removeprefix",
        "removesuffix",
        "partition",
        "rpartition",
        "find",
        "rfind",
        "index",
        "replace",
        "count",
    ),
    *("match", "search", "fullmatch", "sub", "findall", "finditer"),
}


def looks(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield each expression of TREE that looks into a message, with the function that it is in."""
    for function, node, errors in nodes(tree, "", frozenset()):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in LOOKS
        ):
            if any(is_message(one, errors) for one in (node.func.value, *node.args)):
                yield function, ast.unparse(node)
        elif isinstance(node, ast.Compare) and any(
            isinstance(one, ast.In | ast.NotIn | ast.Eq | ast.NotEq) for one in node.ops
        ):
            operands = [node.left, *node.comparators]
            if any(is_message(one, errors) for one in operands) and any(map(is_text, operands)):
                yield function, ast.unparse(node)


def nodes(
    node: ast.AST, function: str, errors: frozenset[str]
) -> Iterator[tuple[str, ast.AST, frozenset[str]]]:
    """Yield every node below NODE with its function and the names of the errors that are caught
    around it.
    """
    for child in ast.iter_child_nodes(node):
        own = child.name if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else function
        caught = (
            errors | {child.name} if isinstance(child, ast.ExceptHandler) and child.name else errors
        )
        yield own, child, caught
        yield from nodes(child, own, caught)


def is_message(node: ast.expr, errors: frozenset[str]) -> bool:
    """Return whether NODE is the text of a note or an error, perhaps in small letters or without
    blanks.
    """
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"lower", "casefold", "strip"}
    ):
        return is_message(node.func.value, errors)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"str", "repr"}
        and len(node.args) == 1
    ):
        return isinstance(node.args[0], ast.Name) and (
            node.args[0].id in errors or node.args[0].id in {"error", "refusal"}
        )
    name = (
        node.attr
        if isinstance(node, ast.Attribute)
        else node.id
        if isinstance(node, ast.Name)
        else ""
    )
    return name in TEXTS


def is_text(node: ast.expr) -> bool:
    """Return whether NODE is written text, or a set of texts, that a message is compared with,
    which the empty text is not.
    """
    if isinstance(node, ast.Set | ast.Tuple | ast.List):
        return any(map(is_text, node.elts))
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != ""
    )


def test_no_code_looks_into_a_message() -> None:
    found = {
        (str(path.relative_to(PACKAGE)), function, expression)
        for path in PACKAGE.rglob("*.py")
        for function, expression in looks(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert {one for one in found if one[:2] not in FOREIGN} == set()


@pytest.mark.parametrize(
    "line",
    [
        "note.startswith('† test')",
        "PATTERN.search(note)",
        "'partial' not in note",
        "error.message.removeprefix('filter ')",
        "'known: ' in error.hint",
        "one.note.lower().startswith('out of')",
        "note in {'sample', 'partial'}",
        "re.sub('a', 'b', failed.message)",
    ],
)
def test_a_look_into_a_message_is_found(line: str) -> None:
    assert [
        expression
        for _, expression in looks(ast.parse(f"def read(note, error):\n    return {line}"))
    ]


def test_a_look_into_the_text_of_a_caught_error_is_found() -> None:
    source = "try:\n    work()\nexcept OSError as fault:\n    is_full = 'No space' in str(fault)"
    assert [expression for _, expression in looks(ast.parse(source))] == [
        "'No space' in str(fault)"
    ]


def test_showing_or_storing_a_message_is_allowed() -> None:
    for line in (
        "print(error.message, *notes)",
        "note in known",
        "notes == []",
        "error.hint == ''",
        "f'{note}: {text}'",
    ):
        assert not list(looks(ast.parse(line))), line


# What a form of the dashboard can show: its checks are those of `train` and of `grid run`.
OF_FORMS = (
    "core",
    "data",
    "objectives",
    "runs",
    "models",
    "training/stage_data.py",
    "training/stages.py",
    "experiments/plan.py",
)
OF_COMMANDS_ALONE = {"core/crash_reports.py", "data/get.py", "data/sentence_file.py"}
_OPTION, _COMMAND = re.compile(r"(?<![\w-])--[a-z]"), re.compile("`[^`]*`")


def texts_of(node: ast.AST, without: set[int]) -> Iterator[str]:
    """Yield each text that is written in NODE, one with values in it as a whole; those WITHOUT by
    their ids.
    """
    if isinstance(node, ast.JoinedStr):
        yield "".join(
            str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
        )
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str) and id(node) not in without:
            yield node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from texts_of(child, without)


def written_options(tree: ast.AST) -> Iterator[str]:
    """Yield each hint of TREE in whose text an option is written, outside a whole command."""
    for node in ast.walk(tree):
        named = isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "hint" for target in node.targets
        )
        if named or (isinstance(node, ast.keyword) and node.arg == "hint"):
            hint = node.value  # type: ignore[attr-defined]
            names = {
                id(call.args[0])
                for call in ast.walk(hint)
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "NamedOption"
            }
            if any(_OPTION.search(_COMMAND.sub("", text)) for text in texts_of(hint, names)):
                yield ast.unparse(hint)


def test_the_options_in_a_hint_that_a_form_may_show_are_data() -> None:
    paths = [
        path
        for place in OF_FORMS
        for path in (
            [PACKAGE / place] if place.endswith(".py") else sorted((PACKAGE / place).rglob("*.py"))
        )
    ]
    found = {
        path.relative_to(PACKAGE).as_posix(): list(
            written_options(ast.parse(path.read_text(encoding="utf-8")))
        )
        for path in paths
    }
    assert {
        name: hints for name, hints in found.items() if hints and name not in OF_COMMANDS_ALONE
    } == {}


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ('raise E("x", hint="use --name NAME")', 1),
        ('hint = f"{get}--data DIR"', 1),
        ('raise E("x", hint=Hint("use ", NamedOption("--name", "NAME")))', 0),
        ('raise E("x", hint="`embedlab runs ls --all` shows it")', 0),
        ('raise E("x", hint=f"`embedlab train {run} --resume` continues it")', 0),
    ],
)
def test_an_option_that_is_written_in_a_hint_is_found(code: str, count: int) -> None:
    assert len(list(written_options(ast.parse(code)))) == count
