"""A frame's rows with every sentence as an index into the distinct sentences."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.errors import UsageError
from embedlab.objectives.needs import Needs


@dataclass(frozen=True, kw_only=True)
class Rows:
    """What an objective reads of a frame: sentences are numbered, classes too."""

    sentences: pl.Series  # distinct, in the order they first appear
    columns: dict[str, NDArray[np.int64]]  # sentence column → index into sentences, class column → index of the class; (rows,) each

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def at(self, index: int | np.integer) -> str:
        """One distinct sentence."""
        return str(self.sentences[int(index)])


def index_rows(frame: pl.DataFrame, needs: Needs) -> Rows:
    """Number the sentences and classes of FRAME; a class that NEEDS does not name is refused."""
    texts = [frame[column].rename("sentence") for column in needs.sentences]
    distinct = pl.concat(texts).unique(maintain_order=True)
    number = distinct.to_frame().with_row_index("index")
    columns = {
        column: text.to_frame().join(number, on="sentence", how="left", maintain_order="left")["index"].to_numpy().astype(np.int64)
        for column, text in zip(needs.sentences, texts, strict=True)
    }
    for column, classes in needs.classes.items():
        columns[column] = _class_index(frame[column], classes)
    return Rows(sentences=distinct, columns=columns)


def _class_index(values: pl.Series, classes: tuple[str, ...]) -> NDArray[np.int64]:
    texts = values.cast(pl.String)
    index = texts.replace_strict(list(classes), list(range(len(classes))), default=None, return_dtype=pl.Int64)
    if index.null_count():
        row = int(index.is_null().to_numpy().argmax())
        raise UsageError(f"row {row}: {values.name!r} is {texts[row]!r}", hint=f"the classes are {', '.join(classes)}")
    return index.to_numpy(writable=True)
