"""One row for each command on one of the inputs of ../shared/cases, and how it is run.

Rows are in `CASES` of files.py, models.py, runs.py, leaks.py…: one file for each part of the
program.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).parents[3] / "shared" / "cases"
PARTS = ("files", "models", "runs", "leaks", "servers")  # files of this folder with rows


def nothing() -> str:
    """Prepare nothing, and leave nothing to show."""
    return ""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A command on a copy of an input, and what is right."""

    name: str  # a folder of ../shared/cases
    command: str  # as typed in a copy of that folder; a line of bash where IN_SHELL
    code: int = 0
    says: Sequence[str] = ()  # each is in what it writes
    never: Sequence[str] = ()  # none is
    in_shell: bool = False  # whether it needs a shell and a process of its own
    # makes what the copy lacks, in it, and returns what PORT stands for in the command
    prepare: Callable[[], object] = nothing
    also: Callable[[], str] = nothing  # what the command left, behind what it writes
    needs: str = ""  # a line of bash that fails where this machine cannot run it: it is skipped
    waits: str = ""  # the issue that mends it: the row is a strict xfail until then


@dataclass(frozen=True)
class Ending:
    """How a command ended, and what it wrote to stdout and stderr."""

    code: int
    text: str


def all_cases() -> list[Case]:
    """Return the rows of every part that is there."""
    parts = [part for part in PARTS if Path(__file__).with_name(f"{part}.py").is_file()]
    return [case for part in parts for case in import_module(f"tests.cases.{part}").CASES]


def copy_input(name: str, folder: Path) -> Path:
    """Return a writable copy of an input below FOLDER."""
    target = folder / name
    shutil.copytree(FOLDER / name, target, symlinks=True, copy_function=shutil.copyfile)
    for path in (target, *target.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)
    return target


def run_in_shell(case: Case, folder: Path) -> Ending:
    """Run a case's command in bash, in FOLDER; `embedlab` is that of this Python."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ended = subprocess.run(
        ["bash", "-c", case.command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
        check=False,
    )
    return Ending(ended.returncode, ended.stdout.decode("utf-8", "replace"))


def words_of(case: Case, port: object) -> list[str]:
    """Return what the command gives to `embedlab`."""
    program, *words = shlex.split(case.command.replace("PORT", str(port)))
    assert program == "embedlab", case.command
    return words
