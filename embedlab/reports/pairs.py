"""The table of single pairs with every model's similarity and rank error, and what models score on
the items of a selection and on the rest.
"""

from collections.abc import Iterator, Sequence
from math import isnan

import polars as pl

from embedlab.analysis.comparison import ComparedSlice
from embedlab.analysis.seed_notes import REACH_NOTE
from embedlab.comparison.comparison import SelectedAndRest
from embedlab.comparison.evidence import CHOSEN
from embedlab.core.printable import PAIRS_SHARED, SENTENCES_SHARED
from embedlab.models.grammar import titles_of
from embedlab.reports.frames import PAIRED, Row, tidy_frame
from embedlab.reports.notes import generated_note, usage_notes, with_marks
from embedlab.reports.scores import overlap_fields, overlap_footnotes
from embedlab.reports.tables import Column, Table, TableCell, attributes
from embedlab.scoring.provenance import overlap_sign
from embedlab.scoring.task_comparison import ComparisonInput
from embedlab.tasks.task import scale_of

DIGITS = 3  # of a similarity
PROSE = ("sentence1", "sentence2")
TEXTS = ("dataset", "source", *PROSE)
OF_PAIR = ("dataset", "source", "pair", *PROSE, "gold", "dice", "gap")


def listed_columns(models: Sequence[str]) -> list[str]:
    """The columns that can be shown, filtered and sorted."""
    errors = [f"error({name})" for name in models]
    columns = (*TEXTS[:2], "pair", *TEXTS[2:], "gold", "dice", *models, *errors, "gap")
    return [*dict.fromkeys(columns)]  # the model "dice" is the column of that name


def pair_list(
    gathered: ComparisonInput, pairs: pl.DataFrame, title: str, *, added: Sequence[str]
) -> Table:
    """One row for each of PAIRS, which have the columns of `pair_columns` and those ADDED, of text;
    its frame has one row a pair and model. A similarity is marked where its model was trained on
    text of the pair.
    """
    names, marks = [model.name for model in gathered.models], sorted(gathered.marks)
    overlaps_of_model = {name: [*text.row_overlaps(pairs)] for name, text in gathered.texts.items()}
    rows: list[Row] = pairs.select(*listed_columns(names), *added).to_dicts()
    records: list[Row] = []
    for row, pair in enumerate(pairs.to_dicts()):
        for model in names:
            overlap = overlaps_of_model[model][row] if model in overlaps_of_model else None
            records.append(
                {
                    **{name: pair[name] for name in OF_PAIR},
                    "model": model,
                    "similarity": pair[model],
                    "error": pair[f"error({model})"],
                    "marks": ", ".join(sorted(gathered.models_by_name[model].marks)),
                    **overlap_fields(overlap),
                }
            )
            if overlap and isinstance(value := pair[model], float):
                text = f"{value:z.{DIGITS}f}{overlap_sign(overlap)}"
                rows[row][model] = TableCell(value, text)
    digits = {"gold": 2, "dice": 2, "gap": 1, **dict.fromkeys(names, DIGITS)}
    digits |= {f"error({name})": 0 for name in names}
    columns = [
        Column(key, key, "sentence" if key in PROSE else None, digits=digits.get(key))
        for key in [*listed_columns(names), *added]
    ]
    sign_line = (
        f"{PAIRS_SHARED.sign} the pair, {SENTENCES_SHARED.sign} a sentence of it is in the model's "
        "training data"
    )
    notes = [
        *generated_note(marks),
        *gathered.notes,
        *([sign_line] if any(map(any, overlaps_of_model.values())) else []),
        *overlap_footnotes(
            {name: evaluation.overlaps for name, evaluation in gathered.models_by_name.items()}
        ),
        *usage_notes(gathered.models, gathered.facts),
    ]
    return Table(with_marks(title, marks), columns, rows, notes, tidy_frame(records, PAIRED))


def selection_notes(halves: SelectedAndRest) -> Iterator[str]:
    """Yield the scores on the selected pairs and on the others, and the datasets that they are
    means over.
    """
    for scored_items, description in ((halves.selected, "that match"), (halves.rest, "others")):
        yield f"{scored_items.metric} of the {scored_items.items} {description}: {_scores(scored_items)}"
    differences = [*halves.selected.differences.values(), *halves.rest.differences.values()]
    if any(difference.star and difference.reach == "checkpoints" for difference in differences):
        yield REACH_NOTE
    if halves.is_by_results:
        yield CHOSEN
    if len(halves.datasets) > 1:
        yield f"scores are means over {len(halves.datasets)} datasets: {', '.join(halves.datasets)}"


def _scores(compared: ComparedSlice) -> str:
    scale, titles = scale_of(compared.task, compared.metric), titles_of([*compared.scores])
    texts = []
    for name, score in compared.scores.items():
        text = f"{titles[name]} {scale * score.value:z.2f}"
        if (difference := compared.differences.get(name)) is not None:
            delta, low, high = attributes(difference, "delta low high", scale).values()
            interval = "" if isnan(low) else f" [{low:+z.2f}, {high:+z.2f}]{difference.star}"
            text += f" ({delta:+z.2f}{interval})"
        texts.append(text)
    return ", ".join(texts)
