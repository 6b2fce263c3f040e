"""The pages work as they are written: each command and Python block runs, or says why not, and the outputs are those of today."""

import os
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from docs.blocks import ROOT, blocks_of, pages, pattern, shortened, unmarked
from docs.refresh import refreshed, stale
from docs.runner import make_world, run_page
from tests.conftest import thin_out_the_sample
from tests.docs.checks import CHECKS

REFRESH = "python docs/refresh.py writes the outputs anew"
THINNED = 2  # every other pair of the sample world's STS datasets is read: enough for every mark that the pages show
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
    """The runs of the demo, trained for fewer steps and scored on fewer pairs; processes of one test session share them."""
    base = tmp_path_factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "world-of-pages"
    with FileLock(f"{place}.lock"):
        if not place.is_dir():
            unfinished = place.with_suffix(".unfinished")
            unfinished.mkdir()
            with pytest.MonkeyPatch.context() as patch:
                thin_out_the_sample(patch, THINNED)
                make_world(unfinished, quick=True)
            unfinished.rename(place)
    return place


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def is_executed(path: Path) -> bool:
    return any(block.is_run for block in blocks_of(path.read_text("utf-8")))


@pytest.mark.parametrize("path", [path for path in pages() if is_executed(path)], ids=named)
def test_a_page_works_and_shows_the_outputs_of_today(path: Path, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    thin_out_the_sample(monkeypatch, THINNED)
    names: dict[str, Any] = {}
    executed = list(run_page(path.read_text("utf-8"), world, tmp_path / "page", names=names))

    old = stale(executed)
    assert not old, "\n".join([f"{REFRESH} of {named(path)}", *old])
    if check := CHECKS.get(named(path)):
        check(executed, names, tmp_path / "page")


@pytest.mark.parametrize("path", pages(), ids=named)
def test_each_block_of_commands_runs_or_says_why_not(path: Path) -> None:
    page = path.read_text("utf-8")
    assert not unmarked(page), "open the block with ```console and '$ ', or give a reason: ```console not-run=\"…\""
    for block in blocks_of(page):
        assert len(block.facts.get("not-run", "a reason")) > 5
        assert block.language != "console" or block.commands


@pytest.mark.slow
def test_the_outputs_are_those_of_the_demo(tmp_path: Path) -> None:
    (tmp_path / "world").mkdir()
    made = make_world(tmp_path / "world", quick=False)
    executed = list(run_page((ROOT / "docs" / "start.md").read_text("utf-8"), tmp_path / "world", tmp_path / "page", made))

    assert any("world" in one.block.facts for one in executed)
    assert not stale(executed)


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 120


def test_outputs_are_written_below_their_commands(tmp_path: Path) -> None:
    (tmp_path / "world").mkdir()
    executed = list(run_page(PAGE, tmp_path / "world", tmp_path / "page"))

    first, second = stale(executed)
    assert first == "line 2: echo one\n  page: old\n  now:  one"
    assert second.startswith("line 2: printf")
    page = refreshed(PAGE, executed)
    assert "$ echo one\none\n$ printf 'a\\nb\\nc\\n'\na\nb\n…\n```" in page
    assert not stale(list(run_page(page, tmp_path / "world", tmp_path / "again")))


@pytest.mark.parametrize(
    ("first", "second", "is_alike"),
    [
        ("sts12  600  45.43‡ b  +33.51 [+27.87, +39.35]*", "sts12 600 46.01 a  -3.5 [-7.87, +9.35]", True),
        ("score  spearman", "score  pearson", False),
        ("one\ntwo", "one", False),
    ],
)
def test_numbers_and_what_follows_from_them_may_differ(first: str, second: str, is_alike: bool) -> None:
    assert (pattern(first) == pattern(second)) is is_alike


def test_a_long_output_ends_with_an_ellipsis() -> None:
    assert shortened("a  \nb\nc\n", 2) == "a\nb\n…\n"
    assert shortened("a\nb\n", 2) == "a\nb\n"
