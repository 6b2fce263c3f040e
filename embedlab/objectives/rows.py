"""A frame's rows with every sentence as an index into the distinct sentences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.core.errors import UsageError
from embedlab.encoders.encoder import Text, TextPair
from embedlab.objectives.needs import Needs

WordIds = Callable[[Sequence[str]], NDArray[np.int64]]
"""The token id of each word, −1 where the word is not exactly one known token."""


@dataclass(frozen=True, kw_only=True)
class NumberedRows:
    """A frame as objectives read it: sentences, classes and words are numbered."""

    frame: pl.DataFrame  # the rows that were numbered, as they were
    # distinct, in the order they first appear; of texts that are encoded together a struct of first
    # and second
    sentences: pl.Series
    # (rows,) each: sentence → index into sentences, class → its index, word → its token; scores are
    # float32
    columns: dict[str, NDArray[Any]]
    left_out: int = 0  # rows whose word is not one token

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def texts(self) -> list[Text]:
        """The distinct sentences, or pairs of texts, as an encoder takes them."""
        if not isinstance(self.sentences.dtype, pl.Struct):
            return self.sentences.to_list()
        columns = (self.sentences.struct.field(name) for name in ("first", "second"))
        return [
            TextPair(first=first, second=second) for first, second in zip(*columns, strict=True)
        ]

    def at(self, index: int | np.integer) -> str:
        """One distinct sentence."""
        return str(self.sentences[int(index)])


def index_rows(frame: pl.DataFrame, needs: Needs, words: WordIds | None = None) -> NumberedRows:
    """Number the sentences, classes and words of FRAME; a class that NEEDS does not name is
    refused.

    Without WORDS no row is skipped, and words are numbered by their first appearance.
    """
    total = len(frame)
    for column in needs.words:
        frame = frame.with_columns(_word_ids(frame[column], words).alias(f"{column} id")).filter(
            pl.col(f"{column} id") >= 0
        )
    if needs.joint:
        first, second = needs.sentences
        frame = frame.with_columns(
            joint=pl.struct(pl.col(first).alias("first"), pl.col(second).alias("second"))
        )
    texts = [frame[column].rename("sentence") for column in needs.encoded]
    distinct = pl.concat(texts).unique(maintain_order=True)
    columns: dict[str, NDArray[Any]] = {
        column: _places(text, distinct) for column, text in zip(needs.encoded, texts, strict=True)
    }
    columns |= {
        column: _class_index(frame[column], classes) for column, classes in needs.classes.items()
    }
    columns |= {
        column: frame[column].cast(pl.Float32).to_numpy(writable=True) for column in needs.numbers
    }
    columns |= {column: frame[f"{column} id"].to_numpy(writable=True) for column in needs.words}
    return NumberedRows(
        frame=frame.select(needs.columns),
        sentences=distinct,
        columns=columns,
        left_out=total - len(frame),
    )


def _places(values: pl.Series, distinct: pl.Series) -> NDArray[np.int64]:
    """Return the index of each of VALUES among the DISTINCT ones."""
    number = pl.DataFrame({"value": distinct}).with_row_index("index")
    places = pl.DataFrame({"value": values}).join(
        number, on="value", how="left", maintain_order="left"
    )["index"]
    return places.to_numpy().astype(np.int64)


def _word_ids(values: pl.Series, words: WordIds | None) -> pl.Series:
    distinct = values.unique(maintain_order=True)
    ids = words(distinct.to_list()) if words is not None else np.arange(len(distinct))
    return pl.Series(ids[_places(values, distinct)], dtype=pl.Int64)


def _class_index(values: pl.Series, classes: tuple[str, ...]) -> NDArray[np.int64]:
    texts = values.cast(pl.String)
    index = texts.replace_strict(
        list(classes), list(range(len(classes))), default=None, return_dtype=pl.Int64
    )
    if index.null_count():
        row = int(index.is_null().to_numpy().argmax())
        raise UsageError(
            f"row {row}: {values.name!r} is {texts[row]!r}",
            hint=f"the classes are {', '.join(classes)}",
        )
    return index.to_numpy(writable=True)
