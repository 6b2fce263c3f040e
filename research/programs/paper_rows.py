"""Tries what research/paper-rows.md lists of the papers: the command of every row, at tiny size.

    python research/programs/paper_rows.py [ROW…]

Commands run one after the other in one process, on generated corpora, with runs and caches in a
folder of their own: a training has 48 rows of each corpus, a table is printed as published and
planned, a grid is planned. Where a row names tests, they are there and run by the test suite. Each
row that fails is printed with its reason, and the exit status is that of failure.
"""

import argparse
import contextlib
import io
import os
import re
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "research/paper-rows.md"
_CELLS = re.compile(r"(?<!\\)\|")  # \| is a bar inside a cell
ROWS = {"sbert-defsent-multi": 1024}  # of each corpus; others take 48
VECTORS = "the 1 0 2\nis 0.5 1 1\nnot -1 0 1\nman 0 1 0\na 0.1 0.2 0.1\n"  # what glove.txt has


@dataclass(frozen=True, kw_only=True)
class PaperRow:
    """One thing that a paper describes."""

    number: int
    what: str
    remark: str
    command: str  # or the tests that check it; empty: nothing is run

    @property
    def is_tested(self) -> bool:
        """Whether tests check it, and no command."""
        return self.command.startswith("tests/")


def paper_rows(page: str) -> Iterator[PaperRow]:
    """Yield the rows of a PAGE."""
    for line in page.splitlines():
        cells = [cell.strip() for cell in _CELLS.split(line)[1:-1]]
        if len(cells) == 4 and cells[0].isdigit():
            number, what, remark, command = cells
            yield PaperRow(number=int(number), what=what, remark=remark, command=command.strip("`"))


def tried(command: str, runs: Sequence[str]) -> list[list[str]]:
    """Return the arguments that try a COMMAND at tiny size; RUNS are the names that are taken."""
    verb, *words = shlex.split(command)[1:]
    name = words[0] if words else ""
    match verb:
        case "train" if "--dry-run" not in words:
            named = ["--name", f"{name}-{len(runs)}"] if name in runs else []
            rows = f"stages.data.rows={ROWS.get(name, 48)}"
            return [[verb, *words, "--data", "tiny", "--set", rows, *named]]
        case "grid":
            return [[verb, *words, "--data", "tiny", "--dry-run"]]
        case "reproduce" if not any(word.startswith("--") for word in words):
            planned = [verb, *words, "--data", "tiny", "--dry-run"]
            return [[verb, *words, "--published-only"], planned]
        case "reproduce" if "--seeds" in words:
            return [[verb, *words, "--data", "tiny", "--dry-run"]]
        case "recipes":
            return [[verb, *words]]
    words = [word.replace("bert-base-uncased", "minilm") for word in words]  # without a network
    return [[verb, *words, "--data", "tiny"]]


def failure(arguments: Sequence[str]) -> str | None:
    """Return why a command fails, None where it does not."""
    from embedlab.cli.app import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([*arguments])
    said = err.getvalue().strip().splitlines()
    return f"`embedlab {shlex.join(arguments)}` ended with {code}: {said[-1:]}" if code else None


def failures(rows: Sequence[PaperRow]) -> Iterator[str]:
    """Yield what of ROWS fails."""
    runs: list[str] = []
    for row in rows:
        if row.is_tested and not (ROOT / row.command).exists():
            yield f"{row.number}: {row.command} is not there"
        if row.is_tested or not row.command:
            continue
        for arguments in tried(row.command, runs):
            if (reason := failure(arguments)) is not None:
                yield f"{row.number}: {reason}"
        if row.command.startswith("embedlab train ") and "--dry-run" not in row.command:
            runs.append(shlex.split(row.command)[2])


def main() -> None:
    """Try the rows, and say which fail."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", type=int, nargs="*", help="numbers; none: all")
    wanted = parser.parse_args().rows
    rows = [
        row for row in paper_rows(PAGE.read_text("utf-8")) if row.number in wanted or not wanted
    ]
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"EMBEDLAB_RUNS": f"{folder}/runs", "EMBEDLAB_CACHE": f"{folder}/cache"}
        os.chdir(folder)
        Path("glove.txt").write_text(VECTORS, "utf-8")
        found = 0
        for reason in failures(rows):
            found += 1
            print(reason, flush=True)
    print(f"{len(rows)} rows, {found} failures")
    raise SystemExit(min(found, 1))


if __name__ == "__main__":
    main()
