"""ARCHITECTURE.md lists what a command calls, and here it does."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

import embedlab as package
from docs.blocks import ROOT
from tests.cli.conftest import Embedlab

PACKAGE = Path(package.__file__).parent


def listed() -> list[tuple[str, str]]:
    """The steps of the walk of `compare`, a file and its function each, as the page has them."""
    section = (
        (ROOT / "ARCHITECTURE.md")
        .read_text("utf-8")
        .partition("## The walk of `compare`")[2]
        .partition("\n## ")[0]
    )
    return re.findall(r"^\d+\. `([\w/]+\.py)`, `(\w+)`", section, re.MULTILINE)


def visited(work: Callable[[], object], steps: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """The calls of STEPS while WORK is done, in their order."""
    calls = []

    def note(frame: FrameType, event: str, _: object) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(str(PACKAGE)):
            step = (Path(path).relative_to(PACKAGE).as_posix(), frame.f_code.co_name)
            if step in steps:
                calls.append(step)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.usefixtures("small_world")
def test_compare_walks_through_the_files_of_the_page(embedlab: Embedlab) -> None:
    Path("words.txt").write_text("a 1 0\nthe 0 1\n")
    tasks = ("--task", "sts12", "--task", "cr", "--setting", "prototyping")
    words = (
        "compare",
        "word-vectors:words.txt",
        "dice",
        *tasks,
        "--by",
        "words",
        "--where",
        "length<6",
        "--data",
        "tiny",
    )
    walk = listed()
    calls = iter(visited(lambda: embedlab(*words), {*walk}))
    assert len(walk) > 15
    assert [step for step in walk if step in calls] == walk  # each is called behind those before
