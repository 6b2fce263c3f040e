"""The table of the differences between two models that can be detected."""

from collections.abc import Iterator, Mapping, Sequence
from math import isinf

import polars as pl

from embedlab.analysis.power import Detectable
from embedlab.evaluation.task_comparison import TaskComparison
from embedlab.models.grammar import titles_of
from embedlab.reports.comparison_table import general_notes, leading_columns, titled
from embedlab.reports.frames import Schema, tidy_frame
from embedlab.reports.tables import Column, Table, TableCell, Value
from embedlab.tasks.task import scale_of

POWER: Schema = {
    "task": pl.String(),
    "dataset": pl.String(),
    "metric": pl.String(),
    "pairs": pl.Int64(),  # or items
    "sentences": pl.Int64(),  # distinct ones
    "effective_pairs": pl.Float64(),  # independent ones that would give as narrow an interval
    "design_effect": pl.Float64(),
    "difference": pl.Float64(),  # second minus first, as tables show it
    "smallest": pl.Float64(),  # that is detected at 5% with 80% power
    "planned": pl.Float64(),  # the same with the planned number of seeds
    "seeds_needed": pl.Float64(),  # for the wanted difference; inf where no number is enough
    "marks": pl.String(),
}


def power_table(found: Sequence[Detectable], compared: TaskComparison, *, detect: float | None, seeds: int | None) -> Table:
    """Return one row a dataset or average; DETECT is a difference in points, SEEDS the number of seeds of a plan."""
    titles = titles_of([model.name for model in compared.models])
    first, second = titles.values()
    own = [len(model.members) for model in compared.models if model.is_recipe]
    metrics = dict.fromkeys(one.metric for one in found)
    columns = [
        *leading_columns(found, "dataset", "dataset"),
        Column(key="sentences", title="sentences"),
        Column(key="effective_pairs", title="effective items", align="right"),
        Column(key="design_effect", title="design effect", digits=2),
        Column(key="difference", title="difference", digits=2),
        Column(key="smallest", title="detectable", digits=2),
        *([Column(key="planned", title=f"with {seeds} seeds", digits=2)] if seeds is not None else []),
        *([Column(key="seeds_needed", title=f"seeds for {detect:g}", align="right")] if detect is not None else []),
    ]
    metric = f"{next(iter(metrics)).capitalize()} " if len(metrics) == 1 else ""
    notes = [
        f"difference: {second} minus {first}, {metric}x 100; detectable: 5% two-sided, 80% power, one test",
        "seeds: " + (", ".join(map(str, own)) + " behind these numbers" if own else "neither model is a recipe: items alone vary"),
        *_unknown(own, detect=detect, seeds=seeds),
    ]
    return Table(
        title=titled(compared, [f"Detectable differences between {second} and {first}"]),
        columns=columns,
        rows=[_row(one) for one in found],
        frame=tidy_frame(({**_numbers(one), "marks": ", ".join(compared.marks)} for one in found), POWER),
        notes=[*general_notes(compared), *notes],
        signatures=compared.signatures,
        titles=titles,
    )


def _unknown(own: Sequence[int], *, detect: float | None, seeds: int | None) -> Iterator[str]:
    """Yield what is not known because no model has two seeds."""
    if any(count > 1 for count in own):
        return
    if detect is not None:
        yield "no model has two seeds: how many a difference needs is unknown"
    if seeds is not None and own:
        yield f"no model has two seeds: what {seeds} seeds detect is unknown; train more seeds first, with --seeds"


def _numbers(one: Detectable) -> dict[str, str | float | None]:
    scale = scale_of(one.task, one.metric)
    return {
        "task": one.task,
        "dataset": one.key.removesuffix(f" {one.metric}"),
        "metric": one.metric,
        "pairs": one.pairs,
        "sentences": one.sentences,
        "effective_pairs": one.effective_pairs,
        "design_effect": one.uncertainty.design_effect,
        "difference": scale * one.difference,
        "smallest": scale * one.smallest,
        "planned": scale * one.planned if one.planned is not None else None,
        "seeds_needed": one.seeds_needed,
    }


def _row(one: Detectable) -> Mapping[str, Value | TableCell]:
    effective = one.effective_pairs
    return {
        **_numbers(one),
        "dataset": TableCell(value=one.key, text=one.title.removesuffix(f" {one.metric}")),
        "effective_pairs": TableCell(value=effective, text=f"{effective:z.0f}" if effective > 0 else "–"),
        "seeds_needed": _seeds_cell(one.seeds_needed),
    }


def _seeds_cell(needed: float | None) -> TableCell | None:
    if needed is None or needed != needed:
        return None
    return TableCell(value=needed, text="no number" if isinf(needed) else f"{needed:z.0f}")
