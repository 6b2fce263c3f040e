"""What damages a table of keys and values: seeded mutations of its structure, and commands called
as a user types them.
"""

import datetime
import io
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from copy import deepcopy
from typing import Any

from embedlab.cli.app import main
from embedlab.core.crash_reports import reports_folder
from embedlab.core.errors import EmbedlabError

ODD: Sequence[Any] = (
    "", " ", "x", "a\0b", "\x1b[31m", "ä\n", "a" * 5_000, "../..", "/", "nan", "[[", "default",
    0, 1, -1, 7, 2**31, 2**53, 2**63, 2**64, 10**30, 10**4_000, True, False,
    0.0, 0.5, -0.5, 1e-320, 1e300, 1e308, float("inf"), float("-inf"), float("nan"),
    [], [[]], ["a"], ["a", 1], [1, 2], [None], {}, {"a": 1}, {"": {}}, {"a-b": [{}]}, [{}], None,
    datetime.date(2020, 2, 29), "\ud800",
)  # fmt: skip
NAMES = ("", "a-b", "a.b", "ä", "x" * 300, "\0", "__class__", "name", "0", " ")


def places(values: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value below the top."""
    items = (
        values.items()
        if isinstance(values, Mapping)
        else enumerate(values)
        if isinstance(values, list)
        else ()
    )
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


def change(values: Any, rng: random.Random, *, odd: Sequence[Any] = ODD) -> tuple[str, Any]:
    """The name of a mutation, and a copy of VALUES with one to three places changed by it."""
    changed, name = (
        deepcopy(values),
        rng.choice(("other value", "other value", "deleted", "renamed", "doubled", "nested")),
    )
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        found = list(places(changed))
        if not found:
            break
        *path, last = rng.choice(found)
        parent = changed
        for step in path:
            parent = parent[step]
        _change(parent, last, name, rng, odd)
    return name, changed


def _change(parent: Any, last: Any, name: str, rng: random.Random, odd: Sequence[Any]) -> None:
    match name:
        case "deleted":
            del parent[last]
        case "renamed" if isinstance(parent, dict):
            parent[
                rng.choice((*NAMES, str(last).replace("_", "-"), str(last).upper(), f"{last}s"))
            ] = parent.pop(last)
        case "doubled" if isinstance(parent, list):
            parent.insert(0, deepcopy(parent[last]))
        case "nested":
            deep: Any = parent[last]
            for _ in range(rng.choice((1, 2, 70, 300))):
                deep = rng.choice(([deep], {"a": deep}))
            parent[last] = deep
        case _:
            parent[last] = deepcopy(rng.choice(odd))


def command(*words: str) -> None:
    """Type a command; what it ends with other than 0 is raised as the error it reported, or as a
    fault where that is not two lines.
    """
    out, err = (
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8"),
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace"),
    )
    with redirect_stdout(out), redirect_stderr(err):
        code = main(list(words))
    out.flush()
    err.flush()
    if reports := sorted(reports_folder().glob("*")):  # a bug, which the program shows in two lines
        text = reports[-1].read_text(encoding="utf-8")
        for report in reports:
            report.unlink()
        raise RuntimeError(text)
    if code:
        said = err.buffer.getvalue().decode().splitlines()  # type: ignore[attr-defined]
        errors = [place for place, line in enumerate(said) if line.startswith("embedlab: error: ")]
        if len(errors) != 1 or len(said) - errors[0] > 2:
            raise RuntimeError(f"exit code {code}: {said!r}")
        hint = (
            said[errors[0] + 1] if len(said) > errors[0] + 1 else "none"
        )  # an error without a hint is one line
        raise EmbedlabError(said[errors[0]].removeprefix("embedlab: error: "), hint=hint)
