"""A user's parquet file may have columns of any type: each reader takes them or refuses them in two
lines.
"""

import datetime
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from embedlab.core.errors import EmbedlabError
from embedlab.data.own_files import open_own_file, sentences
from embedlab.encoders.kinds.brought import open_scores, open_vectors, read_items, read_vectors

ROWS = 3
COLUMNS: dict[str, list[Any]] = {
    "sentence1": ["a b", "c", "d"],
    "sentence2": ["a", "c d", "d"],
    "score": [1.0, 2.0, 3.0],
    "source": ["x"] * ROWS,
    "sent0": ["a"] * ROWS,
    "sent1": ["b"] * ROWS,
    "hard_neg": ["c"] * ROWS,
    "sentence": ["q", "w", "e"],
    "vector": [[1.0, 2.0]] * ROWS,
    "dataset": ["trec"] * ROWS,
    "item": [0, 1, 2],
    "prediction": ["a"] * ROWS,
}
VALUES: dict[str, pl.Series] = {
    "duration": pl.Series([datetime.timedelta(1)] * ROWS),
    "date": pl.Series([datetime.date(2020, 1, 1)] * ROWS),
    "decimal": pl.Series([Decimal("1.5")] * ROWS),
    "bytes": pl.Series([b"\xff"] * ROWS),
    "bool": pl.Series([True] * ROWS),
    "null": pl.Series([None] * ROWS),
    "categorical": pl.Series(["1"] * ROWS, dtype=pl.Categorical),
    "int128": pl.Series([10**30] * ROWS, dtype=pl.Int128),
    "struct": pl.Series([{"a": 1}] * ROWS),
    "lists of text": pl.Series([["a"]] * ROWS),
    "lists of other lengths": pl.Series([[1.0], [1.0], [1.0, 2.0]]),
    "lists with holes": pl.Series([[None, 1.0]] * ROWS),
    "arrays": pl.Series([[1.0, 2.0]] * ROWS, dtype=pl.Array(pl.Float32, 2)),
}
READERS: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
    "pairs": (lambda path: open_own_file(str(path)), ("sentence1", "sentence2", "score", "source")),
    "triplets": (lambda path: open_own_file(str(path), "triplets"), ("sent0", "sent1", "hard_neg")),
    "sentences": (lambda path: list(sentences(path)), ("sentence",)),
    "scores": (lambda path: open_scores(f"{path}#score"), ("sentence1", "sentence2", "score")),
    "only score": (lambda path: open_scores(str(path)), ("sentence1", "sentence2", "score")),
    "vectors": (lambda path: open_vectors(str(path)), ("sentence", "vector")),
    "whitening": (partial(read_vectors, has_text=False), ("vector",)),
    "items": (lambda path: read_items(str(path)), ("dataset", "item", "prediction")),
}


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("reader", READERS)
def test_a_column_of_any_type_is_taken_or_refused_in_two_lines(
    reader: str, values: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("embedlab.core.frame_files.output_of_module", lambda *_: (0, ""))
    read, columns = READERS[reader]
    refused: list[EmbedlabError] = []
    path = tmp_path / "mine.parquet"
    for column in columns:
        table = pl.DataFrame({name: COLUMNS[name] for name in columns}).with_columns(
            VALUES[values].alias(column)
        )
        table.write_parquet(path)
        try:
            read(path)
        except EmbedlabError as error:
            refused.append(error)
    assert all(error.hint for error in refused)
    assert not any("\n" in error.message + error.hint for error in refused)
