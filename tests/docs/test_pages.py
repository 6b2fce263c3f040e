"""The pages work as they are written: each command and Python block runs, or says why not, and the
outputs are those of today.
"""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from docs.blocks import ROOT, blocks_of, pages, shortened, unmarked
from docs.refresh import refreshed, stale
from docs.runner import make_world, run_page
from embedlab.core.disk import sole_writer
from tests.conftest import thin_out
from tests.docs.checks import CHECKS, check_written

REFRESH = "python docs/refresh.py writes the outputs anew"
# every other pair of `--data tiny`'s STS datasets is read: enough for every mark that the pages
# show
THINNED = 2
# a training on the starter set takes as long as all other commands
QUICK = "--max-steps 2 --set optim.batch_size=16 --set evaluate.dev=none --set evaluate.tasks=[]"
PAGE = """
```console output=2
$ echo one
old
$ printf 'a\\nb\\nc\\n'
```

```console not-run="no reason to"
$ false
```
"""


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs of the demo, trained for fewer steps and scored on fewer pairs; processes of one
    test session share them.
    """
    base = tmp_path_factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "world-of-pages"
    with sole_writer(place):
        if not place.is_dir():
            unfinished = place.with_suffix(".unfinished")
            unfinished.mkdir()
            with pytest.MonkeyPatch.context() as patch:
                thin_out(patch, THINNED)
                make_world(unfinished, quick=True)
            unfinished.rename(place)
    return place


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def is_executed(path: Path) -> bool:
    return any(block.is_run for block in blocks_of(path.read_text("utf-8")))


@pytest.mark.parametrize("path", [path for path in pages() if is_executed(path)], ids=named)
def test_a_page_works_and_shows_the_outputs_of_today(
    path: Path, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    thin_out(monkeypatch, THINNED)
    names: dict[str, Any] = {}
    page = path.read_text("utf-8").replace("--max-steps 20", QUICK)
    executed = list(run_page(page, world, tmp_path / "page", names=names))

    old = stale(executed)
    assert not old, "\n".join([f"{REFRESH} of {named(path)}", *old])
    for one in executed:  # numbers of untouched models are those of the page to the last digit
        if "--data starter" in one.command and one.block.shown_lines:
            assert shortened(one.output.out, one.block.shown_lines) == one.shown, one.command
    check_written(named(path), executed)
    if check := CHECKS.get(named(path)):
        check(executed, names, tmp_path / "page")


@pytest.mark.parametrize("path", pages(), ids=named)
def test_each_block_of_commands_runs_or_says_why_not(path: Path) -> None:
    page = path.read_text("utf-8")
    assert not unmarked(page), (
        "open the block with ```console and '$ ', or give a reason: ```console not-run=\"…\""
    )
    for block in blocks_of(page):
        assert len(block.facts.get("not-run", "a reason")) > 5
        assert block.language != "console" or block.commands


@pytest.mark.slow
def test_the_outputs_are_those_of_the_demos(tmp_path: Path) -> None:
    """The numbers of untouched models are those of the page to the last digit, those of trained
    ones within its tolerance.
    """
    pytest.importorskip("wordllama", reason="the page shows static vectors")
    (tmp_path / "world").mkdir()
    made = make_world(tmp_path / "world", quick=False)
    page = (ROOT / "docs" / "start.md").read_text("utf-8")
    executed = list(run_page(page, tmp_path / "world", tmp_path / "page", made))
    assert not stale(executed)

    shown, now = (
        scores_of(text)
        for text in next(
            (one.shown, one.output.out) for one in executed if one.command == "embedlab demo"
        )
    )
    tolerance = float(re.search(r"differ by at most\s([\d.]+) between", page)[1])  # type: ignore[index]
    assert shown.keys() == now.keys() == {"minilm", "demo-ce", "demo-supcl", "wordllama", "dice"}
    for name, score in shown.items():
        assert now[name] == (
            pytest.approx(score, abs=tolerance) if name.startswith("demo") else score
        ), name


def scores_of(output: str) -> dict[str, float]:
    """The score of each model in a table with a row a model."""
    rows = re.findall(r"^ ([a-z][\w-]+)(?:, 1 seed.*?)? +(\d+\.\d\d)", output, re.MULTILINE)
    return {name: float(score) for name, score in rows}


def test_outputs_are_written_below_their_commands(tmp_path: Path) -> None:
    (tmp_path / "world").mkdir()
    executed = list(run_page(PAGE, tmp_path / "world", tmp_path / "page"))

    first, second = stale(executed)
    assert first == "line 2: echo one\n  page: old\n  now:  one"
    assert second.startswith("line 2: printf")
    page = refreshed(PAGE, executed)
    assert "$ echo one\none\n$ printf 'a\\nb\\nc\\n'\na\nb\n…\n```" in page
    assert not stale(list(run_page(page, tmp_path / "world", tmp_path / "again")))
