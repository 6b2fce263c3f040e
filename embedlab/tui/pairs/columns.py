"""The columns of the pair table."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import polars as pl

from embedlab.analysis.expressions import NOTE, TRAINED
from embedlab.analysis.pairing import Pairing
from embedlab.tui.model_titles import short_names
from embedlab.tui.pair_table.data import ANSWER, GOLD_TEXT, PairData
from embedlab.tui.widgets.frame_lines import GAP, GUTTER, FrameColumn

LOUD = 30.0  # points of rank; a gap or an error of at least this size is highlighted
LONGEST_NAMES = (
    12,
    8,
)  # cells of a model's name, the shorter one where every column has room with it
SENTENCE = 30  # cells of a sentence at least
_ORIGIN, _ORIGIN_MOST = (
    12,
    24,
)  # cells of dataset, source and pair, which follow the sentences in importance
_ANSWER = 14  # cells of a class
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


ORIGIN = ("dataset", "source", "pair")


def longest_origin(table: pl.DataFrame) -> int:
    """The cells that the longest dataset, source and number of a pair of TABLE need in one cell."""
    cells = pl.col("dataset").str.len_chars() + (pl.col("source").str.len_chars() + 1).fill_null(0)
    return int(
        table.select((cells + pl.col("pair").cast(pl.String).str.len_chars() + 1).max()).item() or 0
    )


def item_columns(
    data: PairData,
    hidden: Collection[str] = (),
    *,
    added: Sequence[str] = (),
    is_stacked: bool = False,
    origin_needs: int | None = 0,
    longest_name: int = LONGEST_NAMES[0],
) -> list[FrameColumn]:
    """The columns of the items of DATA, as of pairs: sentences, what is right, what each model
    answers, then the origin.
    """
    models = [model.name for model in data.models]
    columns = pair_columns(
        models,
        hidden,
        data.pairing,
        added=added,
        is_stacked=is_stacked and data.has_second,
        origin_needs=origin_needs,
        longest_name=longest_name,
    )
    columns = [
        column for column in columns if data.has_second or column.key not in {"sentence2", "dice"}
    ]
    if data.is_ranked:
        return [
            replace(column, digits=0) if column.key in models else column
            for column in columns
            if column.key != "gold"
        ]
    if not data.is_classified:
        return columns
    titles = {column.key: column.title for column in columns}
    answers = {
        data.field(name) if data.pairing is not None else name: f"{ANSWER}{name}" for name in models
    } | {"gold": GOLD_TEXT}
    named = {
        key: FrameColumn(key=text, title=titles.get(key, key), width=_ANSWER)
        for key, text in answers.items()
    }
    return [
        named.get(column.key, column) for column in columns if not column.key.startswith("error(")
    ]


def pair_columns(
    models: Sequence[str],
    hidden: Collection[str] = (),
    pairing: Pairing | None = None,
    *,
    added: Sequence[str] = (),
    is_stacked: bool = False,
    origin_needs: int | None = 0,
    longest_name: int = LONGEST_NAMES[0],
) -> list[FrameColumn]:
    """The columns: sentences first, so that a narrow terminal shows them, then the numbers, then
    the origin of the pair.

    Two models face to face have their letters, which the line above names. ADDED: columns of text
    that were found or written while the pairs are shown. IS_STACKED: a sentence is above the other.
    ORIGIN_NEEDS: cells of the longest origin; None shows no origin. LONGEST_NAME: cells of a
    model's name at most.
    """
    columns = [
        FrameColumn(
            key="sentence1",
            title="sentences" if is_stacked else "sentence 1",
            width=SENTENCE,
            grows=True,
            below="sentence2" if is_stacked else None,
        )
    ]
    columns += (
        []
        if is_stacked
        else [FrameColumn(key="sentence2", title="sentence 2", width=SENTENCE, grows=True)]
    )
    dice = FrameColumn(key="dice", title="Dice", width=5, digits=2)
    columns += [
        FrameColumn(key="gold", title="gold", width=5, digits=2),
        *([dice] if pairing is None else []),
    ]
    titles = short_names(dict.fromkeys(models, longest_name))
    for name in (name for name in models if name != "dice"):  # has its column already
        title = titles[name] if pairing is None else pairing.letter(name)
        columns.append(FrameColumn(key=name, title=title, width=max(len(title) + 1, 6), digits=3))
        if "rank errors" not in hidden and len(models) == 1:
            columns.append(
                FrameColumn(
                    key=f"error({name})",
                    title="error",
                    width=6,
                    digits=0,
                    is_signed=True,
                    loud_from=LOUD,
                )
            )
    if pairing is not None:
        columns += [
            FrameColumn(
                key="delta_rank", title="Δrank", width=6, digits=0, is_signed=True, loud_from=LOUD
            ),
            FrameColumn(
                key="delta_error", title="Δerror", width=7, digits=0, is_signed=True, loud_from=LOUD
            ),
            FrameColumn(key="right", title="right", width=7),
            dice,
        ]
    if len(models) > 1:
        columns.append(FrameColumn(key="gap", title="gap", width=4, digits=0, loud_from=LOUD))
    columns += [FrameColumn(key=name, title=name, width=_ADDED[name]) for name in added]
    first, *more = [name for name in ORIGIN if name not in hidden] or [""]
    if origin_needs is not None and first:
        needs = min(origin_needs, _ORIGIN_MOST)
        columns.append(
            FrameColumn(
                key=first,
                title=" ".join((first, *more)),
                width=_ORIGIN,
                needs=needs,
                joined=(*more,),
                is_dim=True,
            )
        )
    return [column for column in columns if column.key not in hidden]


def numbers_fit(columns: Sequence[FrameColumn], room: int) -> bool:
    """Return whether ROOM cells hold the sentences and every number beside them."""
    return all_fit([column for column in columns if not column.is_dim], room)


def all_fit(columns: Sequence[FrameColumn], room: int) -> bool:
    """Return whether ROOM cells hold every one of COLUMNS."""
    return GUTTER + sum(column.width + GAP for column in columns) <= room
