"""What nobody should type, typed for every argument and option of every command: text that is not
UTF-8, users that do not exist, pipes and devices for files, names and expressions without an end.

    python benchmarks/fuzz/arguments.py [--cases N] [--seed S]

FUZZED=runs,grid takes the commands alone that begin so. Each case is one command with one such
word, run in a folder with a small file of pairs. Whatever ends as "unforeseen", hangs or needs more
than 4 GiB is a fault.
"""

import contextlib
import io
import os
import resource
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

import typer
from campaign import Case, arguments, generator, report, timed

from embedlab.cli.app import main as run_program
from embedlab.cli.app import program
from embedlab.core.crash_reports import UnforeseenError
from embedlab.core.errors import EmbedlabError

MEMORY = 4 * 2**30
NOT_UTF8 = os.fsdecode(b"caf\xe9")

# Whatever takes a value gets each of these.
WORDS = {
    "not UTF-8": NOT_UTF8,
    "not UTF-8, a file": NOT_UTF8 + ".csv",
    "no such user": "~nobody-of-that-name/x.csv",
    "blank": " ",
    "nothing": "",
    "dots": "..",
    "root": "/",
    "300 characters": "x" * 300,
    "300 letters of three bytes": "日" * 300,
    "100,000 characters": "x" * 100_000,
    "50,000 words": "a " * 50_000,
    "50,000 brackets": "[" * 50_000,
    "50,000 closed brackets": "(" * 25_000 + ")" * 25_000,
    "5,000 digits": "1" * 5_000,
    "a number of 67 bits": "1" + "0" * 20,
    "a long path": "x/" * 3_000,
    "a path of long names": f"{'x' * 300}/y.csv",
    "a pipe": "pipe",
    "a pipe with an ending": "pipe.csv",
    "an endless device": "/dev/zero",
    "an endless device as a link": "zero.csv",
    "an endless device as a page": "zero.html",
    "an empty device": "/dev/null",
    "a full device": "/dev/full",
    "a socket": "socket.csv",
    "a folder": "folder",
    "a folder with an ending": "folder.csv",
    "a circle of links": "circle.csv",
    "under a file": "pairs.csv/x.csv",
    "a pipe with options": "pipe.csv?first=a&second=b",
    "options alone": "?=&",
    "odd options": f"pairs.csv?{'a=1&' * 5_000}",
    "a line break": "a\nb",
    "an escape": "\x1b[2J",
    "a dash": "-",
    "a percent sign": "%s%(x)d{}",
    "digits of another script": "²",
    "a huge number": "1e999",
    "not a number": "nan",
    "a negative number": "-1",
    "a hub's name": "hub:",
    "a hub's long name": f"hub:{'x' * 300}/{'y' * 300}",
    "an address": "http://[",
    "a kind without a name": "wordllama:",
    "a model of many": "+".join(["dice"] * 3_000),
    "an at sign": "x@",
    "a seed without an end": f"x@{'9' * 5_000}",
    "equals": "=",
    "a key": f"{'a.' * 2_000}b=1",
    "a key of a list": "stage.99999999999.optim.lr=1",
    "a value": f"optim.lr={'[' * 20_000}",
    "a regular expression": f"/{'(' * 3_000}/",
    "a large regular expression": "/(a{1000}){1000}/",
    "or": "or " * 3_000,
    "comparisons": "gold>1 " * 1_000,
    "a tag": "tag:" + "x," * 3_000,
    "stars": "source:" + "*a" * 3_000,
}

# What a command is given besides the one word; no command begins long work.
GIVEN: dict[str, tuple[str, ...]] = {
    "train": ("snli-supcl", "--dry-run", "--data", "starter"),
    "evaluate": ("dice", "--data", "starter", "--task", "stsb"),
    "compare": ("dice", "wordllama", "pairs.csv"),
    "why": ("dice", "wordllama", "--task", "pairs.csv"),
    "power": ("dice", "wordllama", "--task", "pairs.csv"),
    "verify": ("a.json", "b.json"),
    "reproduce": ("liao", "table6", "--published-only"),
    "pairs": ("dice", "--task", "pairs.csv"),
    "explain": ("wordllama", "a small cat", "a dog"),
    "score": ("dice", "a small cat", "a dog"),
    "nearest": ("a small cat", "sentences.txt"),
    "encode": ("wordllama", "sentences.txt", "--out", "new.npy"),
    "export": ("x", "exported"),
    "tui": ("--pairs", "pairs.csv"),
    "runs show": ("x",),
    "runs log": ("x",),
    "runs resume": ("x",),
    "runs cancel": ("x",),
    "runs rename": ("x", "y"),
    "runs rm": ("x",),
    "data overlaps": ("starter", "pairs.csv"),
    "models get": ("x",),
    "models forget": ("x",),
    "grid run": ("sample", "--dry-run"),
    "grid table": ("sample",),
    "grid cancel": ("sample",),
    "plugins trust": ("x.py",),
}
LONG = {"demo", "tui --serve"}  # they would begin their work whatever else is typed


def commands() -> Iterator[tuple[str, Any]]:
    """Every command with its name."""

    def walk(command: Any, name: str) -> Iterator[tuple[str, Any]]:
        if not hasattr(command, "commands"):
            yield name, command
            return
        for word, own in command.commands.items():
            yield from walk(own, f"{name} {word}".strip())

    yield from walk(typer.main.get_command(program()), "")


def places(name: str, command: Any) -> Iterator[tuple[str, list[str], int]]:
    """Each place of a COMMAND for a word: what it is, the command line, and where the word goes."""
    given = list(GIVEN.get(name, ()))
    switches = [
        option
        for option in ("--offline", "--quiet")
        if any(option in one.opts for one in command.params)
    ]
    line = [*name.split(), *given, *switches]
    start = len(name.split())
    positional = [one for one in command.params if one.param_type_name == "argument"]
    for number, one in enumerate(positional):
        at = start + number
        is_given = number < len(given) and not any(
            word.startswith("--") for word in given[: number + 1]
        )
        rest = line[at + 1 :] if is_given else line[at:]
        yield one.name, [*line[:at], "", *rest], at
    for one in command.params:
        choices = get_args(one.type_descriptor.annotation)
        is_closed = bool(choices) and all(isinstance(choice, str) for choice in choices)
        if one.param_type_name == "option" and not getattr(one, "is_flag", False) and not is_closed:
            option = max(one.opts, key=len)
            yield option, [*line, option, ""], len(line) + 1


def run(line: Sequence[str]) -> None:
    """Run one command in a folder of its own; how it ended is raised as a campaign counts it."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        fill(Path(folder))
        said, answer = io.StringIO(), io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(answer):
            code = run_program(list(line))
        os.chdir("/")
    lines = said.getvalue().strip().splitlines()
    if "unforeseen" in said.getvalue() or "Traceback" in said.getvalue():
        raise UnforeseenError("\n".join(lines))
    error = next((text for text in lines if text.startswith("embedlab: error: ")), "")
    if code and (error or not answer.getvalue()):  # a table may say what is wrong
        hint = next((text for text in lines if text.startswith("hint: ")), "")
        raise EmbedlabError(error, hint=hint)


def fill(folder: Path) -> None:
    """Make the files that the words name."""
    rows = [f"a cat {number} sat,a dog {number % 7} ran,{number % 6}" for number in range(30)]
    (folder / "pairs.csv").write_text("\n".join(["sentence1,sentence2,score", *rows, ""]))
    (folder / "sentences.txt").write_text("a cat sat\na dog ran\n")
    for name in ("pipe", "pipe.csv"):
        os.mkfifo(folder / name)
    for name in ("zero.csv", "zero.html"):
        (folder / name).symlink_to("/dev/zero")
    (folder / "folder").mkdir()
    (folder / "folder.csv").mkdir()
    (folder / "circle.csv").symlink_to("circle.csv")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket.csv")


def cases(count: int, seed: int, words: Sequence[str]) -> list[Case]:
    """As many cases, chosen at random; of the commands that begin with one of WORDS alone."""
    every = [
        (f"{name} {place}", what, [*line[:at], word, *line[at + 1 :]])
        for name, command in commands()
        if name not in LONG and name.startswith(tuple(words))
        for place, line, at in places(name, command)
        for what, word in WORDS.items()
    ]
    chosen = generator(seed, 0).sample(every, min(count, len(every)))
    return [
        Case(target=target.rsplit(" ", 1)[0], mutation=f"{what}", run=partial(run, line))
        for target, what, line in chosen
    ]


def main() -> int:
    """Run the cases and print the table."""
    options = arguments(__doc__, 1_000)
    sys.stdin = open(os.devnull)  # noqa: PTH123, SIM115
    home = tempfile.mkdtemp()
    os.environ["HOME"] = home
    for name in ("CONFIG", "CACHE", "DATA"):
        os.environ[f"XDG_{name}_HOME"] = f"{home}/{name}"
    try:
        outcomes, seconds = timed(
            cases(options.cases, options.seed, os.environ.get("FUZZED", "").split(",")),
            limit_s=options.limit_s,
        )
    finally:
        shutil.rmtree(home, ignore_errors=True)
    notes = [f"{len(WORDS)} words for every argument and option that takes a value."]
    return report(
        "arguments",
        "Words that nobody should type",
        outcomes,
        seconds=seconds,
        notes=notes,
        write=options.write,
    )


if __name__ == "__main__":
    sys.exit(main())
