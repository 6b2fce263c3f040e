"""ARCHITECTURE.md lists what a command goes through, and here it goes there."""

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


def listed() -> list[str]:
    """The files of the walk of `compare`, in the order of the page."""
    section = (
        (ROOT / "ARCHITECTURE.md")
        .read_text("utf-8")
        .partition("## The walk of `compare`")[2]
        .partition("\n## ")[0]
    )
    return re.findall(r"^\d+\. `([\w/]+\.py)`", section, re.MULTILINE)


def visited(work: Callable[[], object]) -> list[str]:
    """The files of the package that WORK calls functions of, in the order of their first calls."""
    found: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        path, caller = (
            frame.f_code.co_filename,
            frame.f_back.f_code.co_name if frame.f_back is not None else "",
        )
        is_import = "<module>" in {
            frame.f_code.co_name,
            caller,
        }  # what runs while a file is read belongs to none of its steps
        if event == "call" and not is_import and path.startswith(str(PACKAGE)):
            found.setdefault(Path(path).relative_to(PACKAGE).as_posix())

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return list(found)


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
    seen = visited(lambda: embedlab(*words))
    walk = listed()
    assert len(walk) > 15
    assert [path for path in seen if path in set(walk)] == walk
