"""A text that one of the compared models refuses is left out for all of them, and counted."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import embedlab
from embedlab.data.source import dataset
from embedlab.data.tiny import tiny_rows
from embedlab.encoders.encoder import RefusedTextsError, Vectors

PAIRS = tiny_rows(dataset("sts12"), "test")
REFUSED = PAIRS["sentence1"][3]


class Refusing:
    """Lengths as vectors, of all texts but one."""

    def __init__(self, refused: str = REFUSED) -> None:
        self._refused = refused

    def encode(self, sentences: list[str]) -> Vectors:
        rows = [[len(text.split()), text.count("a") + 1, text.count("e")] for text in sentences]
        places = [place for place, text in enumerate(sentences) if text == self._refused]
        vectors = np.array(rows, np.float32)
        if places:
            others = np.delete(vectors, places, axis=0)
            raise RefusedTextsError("it", [(self._refused, "too odd")] * len(places), others)
        return vectors


@pytest.mark.parametrize("function", [embedlab.compare, embedlab.evaluate])
def test_numbers_without_items_are_of_the_same_texts(
    function: type[object], tiny_encoder: Path, tmp_path: Path
) -> None:
    lost = PAIRS.filter(pl.any_horizontal(pl.col("sentence1", "sentence2") == REFUSED)).height
    models = [str(tiny_encoder), Refusing()]
    options = {"tasks": ["geometry"], "data": "tiny", "cache": tmp_path / "cache"}
    frame = function(models, **options).frame  # type: ignore[operator]
    rows = frame.filter(pl.col("slice") == "sts12")
    counts = rows.filter(pl.col("metric") == "average cosine")["items"].unique().to_list()
    assert (lost > 0, counts) == (True, [PAIRS.height - lost])
    alone = embedlab.evaluate([models[0]], **options).frame  # type: ignore[arg-type]
    whole = alone.filter(pl.col("metric") == "average cosine", pl.col("slice") == "sts12")
    assert whole["items"].to_list() == [PAIRS.height]  # what is stored is of all texts


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
