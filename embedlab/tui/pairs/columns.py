"""The columns of the pair table."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import polars as pl

from embedlab.analysis.expressions import NOTE, TRAINED
from embedlab.analysis.pairing import Pairing
from embedlab.tui.model_titles import short_names
from embedlab.tui.widgets.frame_lines import FrameColumn

LOUD = 30.0  # points of rank; a gap or an error of at least this size is highlighted
_WIDEST = 12
_SENTENCE, _SENTENCE_OF_TWO = 18, 12  # cells at least: the columns that compare two models fit into 80
_ADDED = {TRAINED: 8, NOTE: 14}  # cells; the details name the models

OPTIONAL = (
    "gold",
    "dice",
    "gap",
    "rank errors",
    "trained",
    "note",
    "dataset",
    "source",
    "pair",
)  # columns that the column chooser can hide


NAMES = ("dataset", "source")


def longest_names(table: pl.DataFrame) -> dict[str, int]:
    """The cells that the longest dataset and the longest source of TABLE need."""
    lengths = table.select(pl.col(NAMES).str.len_chars().max()).row(0)
    return {name: length or 0 for name, length in zip(NAMES, lengths, strict=True)}


def pair_columns(
    models: Sequence[str],
    hidden: Collection[str] = (),
    needs: Mapping[str, int] = MappingProxyType({}),
    pairing: Pairing | None = None,
    *,
    added: Sequence[str] = (),
) -> list[FrameColumn]:
    """The columns: sentences first, so that a narrow terminal shows them, then the numbers, then the origin of the pair.

    NEEDS: the cells of the longest names. Two models face to face have their letters, which the line above names. ADDED: columns
    of text that were found or written while the pairs are shown.
    """
    least = _SENTENCE if pairing is None else _SENTENCE_OF_TWO
    columns = [
        FrameColumn(key="sentence1", title="sentence 1", width=least, grows=True),
        FrameColumn(key="sentence2", title="sentence 2", width=least, grows=True),
        FrameColumn(key="gold", title="gold", width=5, digits=2),
        FrameColumn(key="dice", title="Dice", width=5, digits=2),
    ]
    titles = short_names(dict.fromkeys(models, _WIDEST))
    for name in (name for name in models if name != "dice"):  # has its column already
        title = titles[name] if pairing is None else pairing.letter(name)
        columns.append(FrameColumn(key=name, title=title, width=max(len(title) + 1, 6), digits=3))
        if "rank errors" not in hidden and len(models) == 1:
            columns.append(FrameColumn(key=f"error({name})", title="error", width=6, digits=0, is_signed=True, loud_from=LOUD))
    if pairing is not None:
        columns += [
            FrameColumn(key="delta_rank", title="Δrank", width=6, digits=0, is_signed=True, loud_from=LOUD),
            FrameColumn(key="delta_error", title="Δerror", width=7, digits=0, is_signed=True, loud_from=LOUD),
            FrameColumn(key="right", title="right", width=7),
        ]
    if len(models) > 1:
        columns.append(FrameColumn(key="gap", title="gap", width=4, digits=0, loud_from=LOUD))
    columns += [FrameColumn(key=name, title=name, width=_ADDED[name]) for name in added]
    columns += [
        FrameColumn(key="dataset", title="dataset", width=13, needs=needs.get("dataset", 0)),
        FrameColumn(key="source", title="source", width=14, needs=needs.get("source", 0)),
        FrameColumn(key="pair", title="pair", width=5),
    ]
    return [column for column in columns if column.key not in hidden]
