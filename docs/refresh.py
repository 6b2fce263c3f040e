"""Executes the commands of pages and writes their outputs below: python docs/refresh.py [--check]
[--world DIR] [--data DIR] [PAGE …].

The world of the pages is trained first, by both demos, in some minutes; with `--world` it is stored
in DIR, and found there again. Blocks that need corpora are refreshed with `--data` alone, over the
models that the user has. `--check` writes nothing and says which outputs differ by more than their
numbers; its exit code is then 1.
"""

import argparse
import json
import re
import sys
import tempfile
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from docs.blocks import ROOT, pages, pattern, shortened, typed
from docs.runner import Executed, Made, Output, PageError, make_world, run_page

_VERDICT = re.compile(r"^\S.*( beats | not distinguished| not tested)")


def refreshed(page: str, executed: list[Executed]) -> str:
    """Return PAGE with the outputs of its commands."""
    texts: dict[int, str] = {}
    for one in executed:
        if one.block.shown_lines:
            output = shortened(one.output.out, one.block.shown_lines)
            texts[one.block.start] = (
                texts.get(one.block.start, "") + f"{typed(one.command)}\n{output}"
            )
    for one in reversed(executed):
        if (new := texts.pop(one.block.start, None)) is not None:
            page = page[: one.block.start] + new + page[one.block.start + len(one.block.text) :]
    return page


def stale(executed: list[Executed]) -> list[str]:
    """Return the commands whose shown output differs from the present one by more than numbers,
    each with the first such line.
    """
    return [
        f"line {one.block.line}: {one.command}\n{difference}"
        for one in executed
        if (difference := _difference(one))
    ]


def _difference(one: Executed) -> str:
    """Return the first line that differs, as the page has it and as it is; nothing where none
    does.
    """
    if not one.block.shown_lines:
        return ""
    before, now = (
        text.strip("\n").split("\n")
        for text in (one.shown, shortened(one.output.out, one.block.shown_lines))
    )
    compared = max(len(before), len(now))
    if "varies" in one.block.facts:  # who wins does too: the first line below the verdict counts
        before, now = (
            [line for line in lines if not _VERDICT.search(line)] for lines in (before, now)
        )
        compared = 1
    for old, new in list(zip_longest(before, now, fillvalue=""))[:compared]:
        if pattern(old) != pattern(new):
            return f"  page: {old}\n  now:  {new}"
    return ""


def main(words: list[str]) -> int:
    """Refresh or check the pages that WORDS name, or all."""
    options = argparse.ArgumentParser(
        description="Write the outputs of commands below them, on every page."
    )
    options.add_argument(
        "--check",
        action="store_true",
        help="write nothing; end with 1 where an output differs by more than numbers",
    )
    options.add_argument(
        "--world", type=Path, help="the folder of the trained world, made where it is absent"
    )
    options.add_argument(
        "--data", type=Path, help="the folder of corpora for the blocks that need some"
    )
    options.add_argument("pages", nargs="*", type=Path)
    chosen = options.parse_args(words)
    problems = []
    with tempfile.TemporaryDirectory() as place:
        world = (chosen.world or Path(place, "world")).resolve()
        made = _world(world)
        data = chosen.data and chosen.data.resolve()
        for number, path in enumerate([one.resolve() for one in chosen.pages] or pages()):
            problems += _one(
                path, world, Path(place, f"page-{number}"), made, data=data, is_check=chosen.check
            )
    print(*problems, sep="\n")
    return 1 if problems else 0


def _world(folder: Path) -> Made:
    """Return what the demos wrote when they trained the world in FOLDER, now or before."""
    stored = folder / "made.json"
    if not stored.exists():
        folder.mkdir(parents=True, exist_ok=True)
        made = {
            command: asdict(output) for command, output in make_world(folder, quick=False).items()
        }
        stored.write_text(json.dumps(made), encoding="utf-8")
    return {
        command: Output(**output)
        for command, output in json.loads(stored.read_text(encoding="utf-8")).items()
    }


def _one(
    path: Path, world: Path, folder: Path, made: Made, *, data: Path | None, is_check: bool
) -> list[str]:
    page = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT)
    print(f"{name} …", file=sys.stderr)
    try:
        executed = list(run_page(page, world, folder, made, data=data))
    except PageError as error:
        return [f"{name}: {error}"]
    if is_check:
        return [f"{name}: {one}" for one in stale(executed)]
    path.write_text(refreshed(page, executed), encoding="utf-8")
    return []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
