"""Small faults planted in Python source, one at a time: what a test of that source should
notice.
"""

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

Change = tuple[str, ast.AST, str]  # the operator, what it changes, and the new text

_BOUNDARIES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_DIRECTIONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
}
_ARITHMETIC = {
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "//": "/",
    "%": "*",
    "**": "*",
    "&": "|",
    "|": "&",
    "^": "|",
}
_OPPOSITES = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "argmin": "argmax",
    "argmax": "argmin",
    "sorted": "list",
}
_REMOVABLE = {
    "sqrt",
    "abs",
    "fabs",
    "round",
    "exp",
    "log",
}  # functions of one number, that leave it as it is when removed
_REMOVABLE_METHODS = {
    "strip",
    "lstrip",
    "rstrip",
    "lower",
    "unique",
    "drop_nulls",
    "sqrt",
    "abs",
    "round",
    "exp",
    "log",
    "detach",
}
_CLOSED = (
    ast.stmt, ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.List, ast.Dict, ast.Set,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip
_SYMMETRIC = {"min", "max"}  # functions of two numbers, of which it does not matter which is first
_SYMMETRIC_METHODS = {"minimum", "maximum", "fmin", "fmax", "array_equal"}  # as np.minimum
_NEVER_DROPPED = {
    "strict",
    "encoding",
}  # checks of the programmer's own: no valid input shows whether they are there


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One fault: text between two places of a file, and what takes its place."""

    file: str  # relative to the checkout
    operator: str
    line: int
    function: str  # that holds it; empty for the module's own lines
    before: str  # in one line
    after: str
    start: int  # in characters
    end: int

    @property
    def key(self) -> str:
        """Return what identifies it as long as the file stays as it is."""
        return f"{self.file}:{self.start}-{self.end} {self.operator}: {self.after}"

    def __str__(self) -> str:
        inside = f" in {self.function}" if self.function else ""
        return f"{self.file}:{self.line}{inside}, {self.operator}: {self.before} → {self.after}"

    def applied(self, source: str) -> str:
        """Return SOURCE with the fault in it."""
        return source[: self.start] + self.after + source[self.end :]


def mutants_of(file: str, source: str) -> list[Mutant]:
    """Return every fault that can be planted in SOURCE, in the order of its lines; annotations,
    messages and docstrings have none.
    """
    places = _Places(source)
    found: dict[str, Mutant] = {}
    for function, (operator, node, text) in _changes(ast.parse(source), ""):
        start, end = places.span(node)
        mutant = Mutant(
            file=file,
            operator=operator,
            line=getattr(node, "lineno", 0),
            function=function,
            before=_one_line(source[start:end]),
            after=text,
            start=start,
            end=end,
        )
        found.setdefault(mutant.key, mutant)
    return sorted(found.values(), key=lambda mutant: (mutant.start, mutant.end, mutant.key))


class _Places:
    """Where a node begins and ends in the characters of a source, whose nodes count bytes of a
    line.
    """

    def __init__(self, source: str) -> None:
        self._lines = source.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: Any) -> tuple[int, int]:
        return self._offset(node.lineno, node.col_offset), self._offset(
            node.end_lineno, node.end_col_offset
        )

    def _offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())


def _one_line(text: str) -> str:
    one = re.sub(r"\s+", " ", text)
    return re.sub(r"(?<=[(\[{]) | (?=[)\]}])|,(?= [)\]}])", "", one)


def _changes(node: ast.AST, function: str) -> Iterator[tuple[str, Change]]:
    """Yield the faults in NODE and below, each with the function that holds it."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        function = f"{function}.{node.name}".lstrip(".")
    for change in _own_changes(node):
        yield function, change
    for below in _below(node):
        yield from _changes(below, function)


def _below(node: ast.AST) -> list[ast.AST]:
    """Return the nodes inside NODE in which a fault would be one of what the program does."""
    match node:
        case (
            ast.JoinedStr()
            | ast.Raise()
            | ast.Assert()
            | ast.Import()
            | ast.ImportFrom()
            | ast.pattern()
        ):
            return []  # messages, and what holds by the types
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return []
        case ast.AnnAssign(value=value):
            return [value] if value is not None else []
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return [
                *node.args.defaults,
                *(value for value in node.args.kw_defaults if value is not None),
                *node.body,
            ]
        case ast.ClassDef():
            return list(node.body)
        case ast.Expr(value=ast.Constant()):
            return []  # a docstring
        case ast.keyword(arg="strict" | "encoding"):
            return []  # as _NEVER_DROPPED
    return list(ast.iter_child_nodes(node))


def _own_changes(node: ast.AST) -> Iterator[Change]:
    yield from _statements(node)
    match node:
        case ast.Compare():
            yield from _comparisons(node)
        case ast.BinOp() | ast.AugAssign():
            yield from _arithmetic(node)
        case ast.BoolOp():
            yield from _conditions(node)
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield "removed negation", node, _text(operand)
        case ast.Constant(value=value) if isinstance(value, bool | int | float):
            yield (
                "constant",
                node,
                repr(
                    not value
                    if isinstance(value, bool)
                    else value + 1
                    if isinstance(value, int)
                    else value * 2 or 1.0
                ),
            )
        case ast.Call():
            yield from _calls(node)
        case ast.IfExp(test=test, body=body, orelse=otherwise):
            yield "swapped branches", node, _text(ast.IfExp(test=test, body=otherwise, orelse=body))
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            yield from _filters(node)


def _statements(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.If(test=test) | ast.While(test=test) if (
            not isinstance(test, ast.Name) or test.id != "TYPE_CHECKING"
        ):
            yield "swapped branches", test, _text(ast.UnaryOp(op=ast.Not(), operand=test))
        case ast.Expr(value=ast.Call()):
            yield "removed statement", node, "pass"


def _comparisons(node: ast.Compare) -> Iterator[Change]:
    for place, operator in enumerate(node.ops):
        for table in (_BOUNDARIES, _DIRECTIONS):
            if (other := table.get(type(operator))) is not None:
                changed = copy.copy(node)
                changed.ops = [*node.ops[:place], other(), *node.ops[place + 1 :]]
                yield "comparison", node, _text(changed)


def _arithmetic(node: ast.BinOp | ast.AugAssign) -> Iterator[Change]:
    if any(
        isinstance(value, ast.JoinedStr)
        or (isinstance(value, ast.Constant) and isinstance(value.value, str))
        for value in vars(node).values()
    ):
        return  # texts
    if (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Pow)
        and isinstance(node.right, ast.Constant)
        and node.right.value == 0.5
    ):
        yield "removed root", node, _text(node.left)
    if (other := _other_operators().get(type(node.op))) is not None:
        changed = copy.copy(node)
        changed.op = other()
        yield "arithmetic", node, _text(changed)


@cache
def _other_operators() -> dict[type[ast.operator], type[ast.operator]]:
    def named(text: str) -> type[ast.operator]:
        operation = ast.parse(f"a {text} b", mode="eval").body
        assert isinstance(operation, ast.BinOp)
        return type(operation.op)

    return {named(text): named(other) for text, other in _ARITHMETIC.items()}


def _conditions(node: ast.BoolOp) -> Iterator[Change]:
    yield (
        "and or",
        node,
        _text(
            ast.BoolOp(
                op=ast.Or() if isinstance(node.op, ast.And) else ast.And(), values=node.values
            )
        ),
    )
    for place in range(len(node.values)):
        rest = [*node.values[:place], *node.values[place + 1 :]]
        yield (
            "dropped condition",
            node,
            _text(rest[0] if len(rest) == 1 else ast.BoolOp(op=node.op, values=rest)),
        )


def _calls(node: ast.Call) -> Iterator[Change]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in _OPPOSITES:
        changed = copy.deepcopy(node)
        setattr(
            changed.func, "attr" if isinstance(node.func, ast.Attribute) else "id", _OPPOSITES[name]
        )
        yield "opposite function", node, _text(changed)
    if name in _REMOVABLE and node.args and not isinstance(node.args[0], ast.Starred):
        yield "removed function", node, _text(node.args[0])
    if (
        name in _REMOVABLE_METHODS
        and isinstance(node.func, ast.Attribute)
        and not node.keywords
        and not node.args
    ):
        yield "removed function", node, _text(node.func.value)
    for keyword in node.keywords:
        if keyword.arg is not None and keyword.arg not in _NEVER_DROPPED:
            rest = [other for other in node.keywords if other is not keyword]
            yield (
                "dropped argument",
                node,
                _text(ast.Call(func=node.func, args=node.args, keywords=rest)),
            )
    is_swappable = name not in (
        _SYMMETRIC if isinstance(node.func, ast.Name) else _SYMMETRIC_METHODS
    )
    if (
        is_swappable
        and len(node.args) >= 2
        and not any(isinstance(value, ast.Starred) for value in node.args[:2])
    ):
        swapped = [node.args[1], node.args[0], *node.args[2:]]
        yield (
            "swapped arguments",
            node,
            _text(ast.Call(func=node.func, args=swapped, keywords=node.keywords)),
        )


def _filters(
    node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp,
) -> Iterator[Change]:
    for place, loop in enumerate(node.generators):
        if loop.ifs:
            changed = copy.copy(node)
            without = ast.comprehension(
                target=loop.target, iter=loop.iter, ifs=[], is_async=loop.is_async
            )
            changed.generators = [*node.generators[:place], without, *node.generators[place + 1 :]]
            yield "dropped filter", node, _text(changed)


def _text(node: ast.AST) -> str:
    """Return the source of a node; in parentheses where what surrounds it may bind more closely."""
    text = ast.unparse(ast.fix_missing_locations(node))
    return text if isinstance(node, _CLOSED) else f"({text})"
