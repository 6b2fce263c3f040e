"""Benchmarks run as the programs that they are, in processes forked from one that has loaded what
they need.
"""

import contextlib
import io
import json
import os
import runpy
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path


def run_program(path: str, words: Sequence[str], out: str) -> int:
    """Run the program at PATH with these arguments; what it prints goes to the file OUT."""
    with (
        _as_program(Path(path), words),
        Path(out).open("w", encoding="utf-8") as file,
        contextlib.redirect_stdout(file),
    ):
        return _exit_code(path)


def show_help_of_all(paths: Sequence[str], out: str) -> None:
    """Write to OUT what is wrong with the help of the programs at PATHS; what is imported alone is
    imported.
    """
    wrong = {}
    for path in paths:
        shown = io.StringIO()
        with _as_program(Path(path), ["--help"]), contextlib.redirect_stdout(shown):
            try:
                code = _exit_code(path)
            except Exception:
                wrong[path] = traceback.format_exc()
                continue
        is_program = "__main__" in Path(path).read_text(encoding="utf-8")
        if code or is_program != shown.getvalue().startswith("usage: "):
            wrong[path] = f"exit code {code}: {shown.getvalue()}"
    Path(out).write_text(json.dumps(wrong), encoding="utf-8")


def _exit_code(path: str) -> int:
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@contextlib.contextmanager
def _as_program(path: Path, words: Sequence[str]) -> Iterator[None]:
    """Give a program its arguments and the modules beside it, and take back what it changed."""
    before, environment, folder = (sys.argv, sys.path.copy()), dict(os.environ), Path.cwd()
    sys.argv, sys.path[:0] = [str(path), *words], [str(path.parent)]
    try:
        yield
    finally:
        sys.argv, sys.path[:] = before
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        for name in [
            name
            for name, module in sys.modules.items()
            if any(
                folder in str(getattr(module, "__file__", None))
                for folder in ("/benchmarks/", "/research/")
            )
        ]:
            if not name.startswith("tests."):  # two folders have modules of the same name
                del sys.modules[name]
