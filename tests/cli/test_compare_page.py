"""`embedlab compare --html`: what the page shows is what was compared."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Embedlab

PAIRS = [
    ("A cat sleeps.", "A cat is asleep.", 4.5),
    ("A dog runs.", "The dog is running fast.", 4.0),
    ("It rains.", "The sun shines.", 0.5),
    ("A man plays a guitar.", "A man eats.", 1.0),
    ("Two boys play football.", "Two boys play football.", 5.0),
    ("A boy sings.", "The boy sings a song.", 3.5),
]
WORDS = "the 1 0\na 1 1\ncat 0 2\ndog 3 1\nboy 1 4\nboys 1 5\nman 2 2\n"


def write_world() -> None:
    lines = "".join(f"{a}\t{b}\t{gold}\n" for a, b, gold in PAIRS)
    Path("mine.tsv").write_text(f"sentence1\tsentence2\tscore\n{lines}")
    Path("words.txt").write_text(WORDS)


def test_the_page_holds_the_table_the_other_slices_and_the_plots(embedlab: Embedlab) -> None:
    write_world()
    models = ("dice", "word-vectors:words.txt")
    answer = embedlab(
        "compare", *models, "--task", "mine.tsv", "--html", "page.html", "--format", "csv"
    )
    assert answer.code == 0, answer.err
    assert "the page is page.html" in answer.err
    page = Path("page.html").read_text(encoding="utf-8")
    headings = [part.partition("</h2>")[0] for part in page.split("<h2>")[1:]]
    assert headings == ["By dataset", "By source", "By word overlap", "Pair by pair"]
    first, *_ = csv.DictReader(io.StringIO(answer.out))
    assert (first["slice"], first["model"]) == ("mine.tsv", "dice")
    assert f"{float(first['score']):.2f}" in page
    assert page.count("<svg") >= 6
    assert "mine.tsv all, 6 rows" in page  # the data in the facts block
