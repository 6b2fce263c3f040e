"""Executes the blocks of a page over the runs of the demo, and over two on generated data."""

import contextlib
import io
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from docs.blocks import Block, blocks_of

# What decides the outputs besides the commands.
ENVIRONMENT = {
    "EMBEDLAB_CACHE": "cache",
    "EMBEDLAB_DEVICE": "cpu",
    "EMBEDLAB_THREADS": "1",
    "COLUMNS": "90",
    "HF_HUB_OFFLINE": "1",
    "MPLBACKEND": "Agg",
    "NO_COLOR": "1",
}
# A random encoder needs a higher rate and more passes than a pre-trained one.
TINY = tuple(
    f"embedlab train {recipe} --data tiny --name {name} --set optim.lr=3e-3 --set optim.epochs=2"
    for name, recipe in (("tiny-ce", "snli-ce"), ("tiny-supcl", "snli-supcl"))
)
WORLD = (*TINY, "embedlab demo")
_MODELS_HOME = os.environ.get("XDG_DATA_HOME")  # the user's, where models of packages are
# a quick world has the runs on generated data, trained for fewer steps …
_FEW_EPOCHS = " --set optim.epochs=1 --set evaluate.dev=none"
# … and of the demo the scores of untouched models
_UNTOUCHED = "embedlab compare minilm dice --data starter"


@dataclass(frozen=True, kw_only=True)
class Output:
    """What a command wrote and how it ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, kw_only=True)
class Executed:
    """A command of a page, the output that the page shows, and the one that it has."""

    block: Block
    command: str
    shown: str
    output: Output


class PageError(Exception):
    """A block of a page that does not work; the message names its line."""


Made = Mapping[str, Output]
"""What each command that made a world wrote."""


def make_world(folder: Path, *, quick: bool) -> Made:
    """Train the runs of the demos in FOLDER, which pages find; a quick world takes fewer steps and
    is as useful but for the numbers.

    In a quick world no model is fine-tuned on the starter set: pages may use its untouched models
    alone.
    """
    with inside(folder):
        if not quick:
            return {command: execute(command) for command in WORLD}
        for command in (*(line + _FEW_EPOCHS for line in TINY), _UNTOUCHED):
            if (done := execute(command)).code:
                raise PageError(done.err)
    return {}


def run_page(
    page: str,
    world: Path,
    folder: Path,
    made: Made | None = None,
    names: dict[str, Any] | None = None,
    data: Path | None = None,
) -> Iterator[Executed]:
    """Execute the blocks of a page in FOLDER, which gets a copy of WORLD and shares its cache;
    yields each command with its output.

    MADE are the outputs of the commands that made the world; without it these commands are passed
    over. NAMES receives those of Python blocks. DATA is the folder of corpora for the blocks that
    need some; without it these are passed over.
    """
    cache = ENVIRONMENT["EMBEDLAB_CACHE"]
    shutil.copytree(world, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(cache))
    (world / cache).mkdir(exist_ok=True)
    (folder / cache).symlink_to(world / cache)
    names = {} if names is None else names
    with inside(folder):
        for block in blocks_of(page):
            if file := block.facts.get("file"):
                Path(file).parent.mkdir(parents=True, exist_ok=True)
                Path(file).write_text(block.text, encoding="utf-8")
            elif block.language == "python" and block.is_run:
                _run_python(block, names)
            elif block.is_run and "needs" not in block.facts:
                yield from _run_commands(block, made)
            elif block.is_run and data is not None:
                with _with_corpora(data):
                    yield from _run_commands(block, made)


def _run_commands(block: Block, made: Made | None) -> Iterator[Executed]:
    for command, shown in block.commands:
        if "world" in block.facts:
            if made is not None:
                yield Executed(block=block, command=command, shown=shown, output=made[command])
            continue
        output = execute(command)
        if output.code != block.exit_code:
            raise PageError(
                f"line {block.line}: {command!r} ends with "
                f"{output.code}:\n{output.out[-1000:]}{output.err[-2000:]}"
            )
        yield Executed(block=block, command=command, shown=shown, output=output)


def _run_python(block: Block, names: dict[str, Any]) -> None:
    try:
        with _captured():
            exec(compile(block.text, f"<line {block.line}>", "exec"), names)
    except Exception as error:
        raise PageError(f"line {block.line}: {type(error).__name__}: {error}") from error


def execute(command: str) -> Output:
    """Run a line: a call of embedlab in this process, also into a file, and everything else by a
    shell.
    """
    line, file = _redirected(command)
    if command.startswith("embedlab ") and not _needs_shell(line):
        output = _call(shlex.split(line)[1:])
        if not file:
            return output
        Path(file).write_text(output.out, encoding="utf-8")
        return replace(output, out="")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    return Output(code=done.returncode, out=done.stdout, err=done.stderr)


def _redirected(command: str) -> tuple[str, str]:
    """Return a line without "> FILE" at its end, and the file."""
    line, sign, file = command.rpartition(" > ")
    return (
        (line, file.strip()) if sign and file.strip().replace(".", "").isalnum() else (command, "")
    )


def _needs_shell(line: str) -> bool:
    """Return whether a line has a pipe or the like outside quotes."""
    parts = shlex.shlex(line, posix=False, punctuation_chars=True)
    return any(set(part) <= set("|><;&()") for part in parts) or "$" in line


def _call(words: Sequence[str]) -> Output:
    from embedlab.cli.app import main

    with _captured() as (out, err):
        try:
            code = main(words)
        except SystemExit as end:
            code = int(end.code or 0)
    return Output(code=code, out=out.getvalue(), err=err.getvalue())


@contextlib.contextmanager
def _captured() -> Iterator[tuple[io.StringIO, io.StringIO]]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield out, err


@contextlib.contextmanager
def _with_corpora(data: Path) -> Iterator[None]:
    """Find the corpora of DATA, and models where the user has them."""
    own = {
        "EMBEDLAB_DATA": str(data.resolve()),
        "XDG_DATA_HOME": _MODELS_HOME or str(Path.home() / ".local" / "share"),
    }
    before = {name: os.environ.get(name, "") for name in own}
    os.environ.update(own)
    try:
        yield
    finally:
        os.environ.update(before)
        if not before["EMBEDLAB_DATA"]:
            del os.environ["EMBEDLAB_DATA"]


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work in FOLDER with what decides outputs, and without settings of the user."""
    before = dict(os.environ)
    for name in [name for name in os.environ if name.startswith("EMBEDLAB_")]:
        del os.environ[name]
    homes = {
        f"XDG_{kind}_HOME": str(folder / "home" / kind.lower())
        for kind in ("CONFIG", "CACHE", "STATE", "DATA")
    }
    os.environ.update(ENVIRONMENT | homes)
    try:
        with chdir(folder):
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)
