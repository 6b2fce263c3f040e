"""A text that one of the compared models refuses is left out for all of them, and counted."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import embedlab
from embedlab.data.source import dataset
from embedlab.data.tiny import tiny_rows
from embedlab.encoders.encoder import RefusedTextsError, Vectors

PAIRS = tiny_rows(dataset("sts12"), "test").gather_every(10)  # as of the small world
REFUSED = PAIRS["sentence1"][3]


class Refusing:
    """Lengths as vectors, of all texts but one."""

    has_refused = False

    def __init__(self, refused: str = REFUSED) -> None:
        self._refused = refused

    def encode(self, sentences: list[str]) -> Vectors:
        read = [text for text in sentences if text != self._refused]
        rows = [[len(text.split()), text.count("a") + 1, text.count("e")] for text in read]
        vectors = np.array(rows, np.float32).reshape(-1, 3)
        if lost := len(sentences) - len(read):
            self.has_refused = True
            raise RefusedTextsError("it", [(self._refused, "too odd")] * lost, vectors)
        return vectors


@pytest.mark.usefixtures("small_world")
def test_numbers_without_items_are_of_the_same_texts(tiny_encoder: Path, tmp_path: Path) -> None:
    lost = PAIRS.filter(pl.any_horizontal(pl.col("sentence1", "sentence2") == REFUSED)).height
    assert lost > 0
    options = {"tasks": ["geometry"], "data": "tiny", "cache": tmp_path / "cache"}
    # what is stored is of all texts
    for others, items in (([Refusing()], PAIRS.height - lost), ([], PAIRS.height)):
        frame = embedlab.evaluate([str(tiny_encoder), *others], **options).frame  # type: ignore[arg-type]
        rows = frame.filter(pl.col("slice") == "sts12", pl.col("metric") == "average cosine")
        assert {*rows["items"]} == {items}


def test_a_document_that_one_model_refuses_is_no_candidate_of_the_others(tmp_path: Path) -> None:
    found = []
    for name, distractor in (("all.csv", REFUSED), ("less.csv", "nothing like it 0")):
        rows = [f"question of {n},answer {n} of it,nothing like it {n}" for n in range(1, 12)]
        first = f"{REFUSED} again,{REFUSED.split()[0]} then,{distractor}"
        (tmp_path / name).write_text("\n".join(["anchor,positive,negative", first, *rows, ""]))
        options = {"tasks": [str(tmp_path / name)], "cache": tmp_path / "cache"}
        frame = embedlab.compare(["dice", Refusing()], **options).frame  # type: ignore[arg-type]
        measures = frame.filter(pl.col("model") == "dice").sort("metric")
        found.append(measures.select("metric", "score", "items").rows())
    assert found[0] == found[1]


def test_a_classified_sentence_that_one_model_refuses_counts_for_none(
    tiny_encoder: Path, tmp_path: Path
) -> None:
    rows = tiny_rows(dataset("trec"), "test")["sentence"]
    models = [str(tiny_encoder), Refusing(rows[3])]
    options = {"tasks": ["trec"], "data": "tiny", "setting": "exact", "cache": tmp_path / "cache"}
    found = embedlab.compare(models, **options)  # type: ignore[arg-type]
    left = (rows != rows[3]).sum()
    assert found.frame["items"].to_list() == [left] * 2
    assert any("left out, without a vector" in note for note in found.notes)


def test_queries_and_documents_that_a_model_refuses_are_counted(tmp_path: Path) -> None:
    rows = [f"question of {n},answer {n} of it" for n in range(1, 12)]
    (tmp_path / "faq.csv").write_text(
        "\n".join(["anchor,positive", f"{REFUSED},answer 0", f"question 0,{REFUSED}", *rows, ""])
    )
    found = embedlab.evaluate([Refusing()], tasks=[str(tmp_path / "faq.csv")])  # type: ignore[arg-type]
    assert any("2 of 13 queries and 1 of 13 documents left out" in note for note in found.notes)
