"""What `compare`, `evaluate`, `power`, `runs show` and `grid table` write for a paper: LaTeX with
models as rows, and figures.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import torch  # noqa: F401 - before the commands, whose time it would count as

from tests.cli.test_compare_page import write_world

if TYPE_CHECKING:
    from tests.cli.conftest import Embedlab

MODELS = ("bag=dice", "vec_tors=word-vectors:words.txt")


def test_models_are_rows_where_that_is_chosen_with_aliases_as_names(embedlab: Embedlab) -> None:
    write_world()
    answer = embedlab("compare", *MODELS, "--task", "mine.tsv", "--rows", "models", "--latex")
    assert answer.code == 0, answer.err
    rows = [line for line in answer.out.splitlines() if line.endswith(r"\\")]
    assert [row.split(" & ")[0] for row in rows] == ["model", "bag", r"vec\_tors"]
    assert sum(r"\textbf" in row for row in rows) == 1
    (caption,) = re.findall(r"\\caption\{(.*)\}", answer.out)
    assert "n = 6 items of mine.tsv" in caption


def test_a_figure_is_written_with_its_caption_as_a_note(embedlab: Embedlab) -> None:
    write_world()
    figures = ("f.pdf", "g.svg?kind=differences", "h.png?kind=calibration")
    typed = (word for figure in figures for word in ("--figure", figure))
    answer = embedlab("compare", *MODELS, "--task", "mine.tsv", *typed)
    assert answer.code == 0, answer.err
    assert Path("f.pdf").read_bytes().startswith(b"%PDF")
    assert b"<svg" in Path("g.svg").read_bytes()
    assert Path("h.png").read_bytes().startswith(b"\x89PNG")
    caption = "caption: Scores: Spearman × 100; n = 6 items of mine.tsv."
    assert f"the figure is f.pdf; {caption}" in answer.err
    assert "Differences from bag" in answer.err
    again = embedlab("evaluate", *MODELS, "--task", "mine.tsv", "--figure", "f.pdf")
    assert again.code == 0  # it is ours: replaced
