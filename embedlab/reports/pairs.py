"""The table of single pairs with every model's similarity and rank error, and what models score on
the items of a selection and on the rest.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import Any

import polars as pl

from embedlab.analysis.comparison import ComparedSlice
from embedlab.comparison.evidence import CHOSEN
from embedlab.comparison.selected import SelectedAndRest
from embedlab.core.signs import PAIRS_SHARED, SENTENCES_SHARED
from embedlab.data.shared_text import Overlap
from embedlab.models.grammar import titles_of
from embedlab.reports.frames import PAIRED, Row, tidy_frame
from embedlab.reports.notes import generated_note, usage_notes, with_marks
from embedlab.reports.scores import overlap_footnotes
from embedlab.reports.tables import Column, Table, TableCell
from embedlab.scoring.provenance import overlap_sign
from embedlab.scoring.task_comparison import Gathered
from embedlab.tasks.task import scale_of

DIGITS = 3  # of a similarity
PROSE = ("sentence1", "sentence2")
TEXTS = ("dataset", "source", *PROSE)
OF_PAIR = ("dataset", "source", "pair", *PROSE, "gold", "dice", "gap")

SharedText = Mapping[
    str, Sequence[Overlap]
]  # by model, of each pair; not of a model whose training text is unknown


def listed_columns(models: Sequence[str]) -> list[str]:
    """The columns that can be shown, filtered and sorted."""
    columns = [
        *TEXTS[:2],
        "pair",
        *TEXTS[2:],
        "gold",
        "dice",
        *models,
        *(f"error({name})" for name in models),
        "gap",
    ]
    return list(dict.fromkeys(columns))  # the model "dice" is the column of that name


def pair_list(
    gathered: Gathered, shown: pl.DataFrame, title: str, *, added: Sequence[str] = ()
) -> Table:
    """One row a pair of SHOWN, which has the columns of `pair_columns` and those ADDED, of text."""
    names, marks = [model.name for model in gathered.models], sorted(gathered.marks)
    shared = {name: list(text.row_overlaps(shown)) for name, text in gathered.texts.items()}
    is_any_shared = any(overlap for overlaps in shared.values() for overlap in overlaps)
    signs = (
        [
            f"{PAIRS_SHARED.sign} the pair, {SENTENCES_SHARED.sign} a sentence of it is in "
            f"the model's training data"
        ]
        if is_any_shared
        else []
    )
    return Table(
        title=with_marks(title, marks),
        columns=[*_columns(names), *(Column(key=name, title=name) for name in added)],
        rows=_rows(shown.select(*listed_columns(names), *added), shared),
        frame=paired_frame(shown, names, shared, marks),
        notes=[
            *generated_note(marks),
            *gathered.notes,
            *signs,
            *overlap_footnotes({name: known.overlaps for name, known in gathered.known.items()}),
            *usage_notes(gathered.models, gathered.facts),
        ],
    )


def paired_frame(
    shown: pl.DataFrame, models: Sequence[str], shared: SharedText, marks: Sequence[str]
) -> pl.DataFrame:
    """One row a pair and model, with the columns PAIRED."""
    rows: list[Row] = []
    for number, pair in enumerate(shown.to_dicts()):
        of_pair = {name: pair[name] for name in OF_PAIR}
        for model in models:
            row = of_pair | {
                "model": model,
                "similarity": pair[model],
                "error": pair[f"error({model})"],
                "marks": ", ".join(marks),
            }
            if model in shared and (overlap := shared[model][number]):
                row |= {
                    "shared_pairs": overlap.shared_pairs,
                    "shared_sentences": overlap.shared_sentences,
                }
            rows.append(row)
    return tidy_frame(rows, PAIRED)


def _rows(shown: pl.DataFrame, shared: SharedText) -> list[Row]:
    """The rows of the table, each similarity marked where its model was trained on text of the
    pair.
    """
    rows: list[Row] = shown.to_dicts()
    for model, overlaps in shared.items():
        for row, overlap in zip(rows, overlaps, strict=True):
            if overlap and isinstance(value := row[model], float):
                row[model] = TableCell(
                    value=value, text=f"{value:z.{DIGITS}f}{overlap_sign(overlap)}"
                )
    return rows


def _columns(names: Sequence[str]) -> list[Column]:
    digits: dict[str, Any] = {
        "gold": 2,
        "dice": 2,
        "gap": 1,
        **dict.fromkeys(names, DIGITS),
        **{f"error({name})": 0 for name in names},
    }
    return [
        Column(
            key=key, title=key, digits=digits.get(key), role="sentence" if key in PROSE else None
        )
        for key in listed_columns(names)
    ]


def selection_notes(halves: SelectedAndRest) -> Iterator[str]:
    """Yield the scores on what is selected, those on the rest, and what they are means over."""
    names = [*halves.selected.scores]
    titles = dict(zip(names, titles_of(names).values(), strict=True))
    yield (
        f"{halves.selected.metric} of the {halves.selected.pairs} that match: "
        f"{_scores(halves.selected, titles)}"
    )
    yield f"{halves.rest.metric} of the {halves.rest.pairs} others: {_scores(halves.rest, titles)}"
    if halves.is_by_results:
        yield CHOSEN
    if len(halves.datasets) > 1:
        yield f"scores are means over {len(halves.datasets)} datasets: {', '.join(halves.datasets)}"


def _scores(compared: ComparedSlice, titles: dict[str, str]) -> str:
    scale = scale_of(compared.task, compared.metric)
    said = []
    for name, score in compared.scores.items():
        text = f"{titles[name]} {scale * score.value:z.2f}"
        if (difference := compared.differences.get(name)) is not None:
            text += f" ({scale * difference.delta:+z.2f}"
            if not isnan(difference.low):
                text += (
                    f" [{scale * difference.low:+z.2f}, "
                    f"{scale * difference.high:+z.2f}]{difference.reach_sign}"
                )
            text += ")"
        said.append(text)
    return ", ".join(said)
