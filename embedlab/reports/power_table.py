"""The table of the differences between two models that can be detected."""

from collections.abc import Iterator, Mapping, Sequence
from math import isinf, isnan

import polars as pl

from embedlab.analysis.comparison import hanging_note
from embedlab.analysis.power import Detectable, Figure
from embedlab.analysis.scores import ModelColumns
from embedlab.analysis.seed_notes import ASSUMED, HANGS
from embedlab.models.grammar import titles_of
from embedlab.reports.captions import DEPENDENCE, counted_items, data_sentences
from embedlab.reports.comparison_table import general_notes, leading_columns, titled
from embedlab.reports.frames import Schema, tidy_frame
from embedlab.reports.tables import Column, Table, TableCell, Value
from embedlab.reports.units import measures_in, scales_of
from embedlab.scoring.task_comparison import TaskComparison
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
    "smallest_low": pl.Float64(),  # its 95% interval, as few seeds estimate their spread poorly
    "smallest_high": pl.Float64(),
    "planned": pl.Float64(),  # the same with the planned number of seeds
    "planned_low": pl.Float64(),
    "planned_high": pl.Float64(),
    "seeds_needed": pl.Float64(),  # for the wanted difference; inf where no number is enough
    "marks": pl.String(),
}


def power_table(
    detectables: Sequence[Detectable],
    compared: TaskComparison,
    *,
    detect: float | None,
    seeds: int | None,
) -> Table:
    """Return one row a dataset or average; DETECT is a difference in points, SEEDS the number of
    seeds of a plan.
    """
    titles = titles_of([model.name for model in compared.models])
    first, second = titles.values()
    counts = [len(model.members) for model in compared.models if model.is_recipe]
    measures = measures_in(scales_of(detectables))
    columns = [
        *leading_columns(detectables, "dataset", "dataset"),
        Column(key="sentences", title="sentences"),
        Column(key="effective_pairs", title="effective items", align="right"),
        Column(key="design_effect", title="design effect", digits=2),
        Column(key="difference", title="difference", digits=2),
        Column(key="smallest", title="detectable", align="right"),
        *(
            [Column(key="planned", title=f"with {seeds} seeds", align="right")]
            if seeds is not None
            else []
        ),
        *(
            [Column(key="seeds_needed", title=f"seeds for {detect:g}", align="right")]
            if detect is not None
            else []
        ),
    ]
    notes = [
        f"difference: {second} minus {first}, {measures}; detectable: 5% two-sided, 80% "
        f"power, one test",
        "seeds: "
        + (
            ", ".join(map(str, counts)) + " behind these numbers"
            if counts
            else "neither model is a recipe: items alone vary"
        ),
        *_sureness(detectables, [model for model in compared.models if model.is_recipe], seeds),
        *_unknown(counts, detect=detect, seeds=seeds),
        *_hanging(detectables),
    ]
    return Table(
        title=titled(compared, [f"Detectable differences between {second} and {first}"]),
        columns=columns,
        rows=[_row(detectable) for detectable in detectables],
        frame=tidy_frame(
            (
                {**_numbers(detectable), "marks": ", ".join(compared.marks)}
                for detectable in detectables
            ),
            POWER,
        ),
        notes=[*general_notes(compared), *notes],
        signatures=compared.signatures,
        titles=titles,
        caption=" ".join(
            [_caption(detectables, compared, first, second), *data_sentences(compared.marks)]
        ),
    )


def _caption(
    detectables: Sequence[Detectable], compared: TaskComparison, first: str, second: str
) -> str:
    averages = {each.key for each in compared.slices if each.average_of}
    counts = {
        detectable.slice_title: detectable.pairs
        for detectable in detectables
        if detectable.key not in averages
    }
    measures = measures_in(scales_of(detectables)).replace(" x 100", " × 100")
    what = (
        f"Differences of {second} from {first}, {measures}, and the smallest that would be detected"
    )
    return f"{what} (5% two-sided, 80% power, one test; {DEPENDENCE}); {counted_items(counts)}."


def _sureness(
    detectables: Sequence[Detectable], recipes: Sequence[ModelColumns], seeds: int | None
) -> Iterator[str]:
    """Yield how sure the figures are, and what is assumed of recipes of too few seeds."""
    if not any(detectable.smallest.low == detectable.smallest.low for detectable in detectables):
        return
    yield (
        "[ ]: 95% interval, as few seeds estimate their spread poorly; the items are the same ones"
    )
    single = [model.name for model in recipes if len(model.members) == 1]
    if single and seeds is not None:
        yield (
            f"{', '.join(single)} has one seed and takes the spread of the other recipe, {ASSUMED}"
        )


def _unknown(counts: Sequence[int], *, detect: float | None, seeds: int | None) -> Iterator[str]:
    """Yield what is not known because no model has two seeds."""
    if any(count > 1 for count in counts):
        return
    if detect is not None:
        yield "no model has two seeds: how many a difference needs is unknown"
    if seeds is not None:
        yield (
            f"no model has two seeds: what {seeds} seeds detect is unknown; train more seeds "
            f"first, with --seeds"
        )


def _hanging(detectables: Sequence[Detectable]) -> Iterator[str]:
    """Yield what is left without a topic that decides, and that the figure is then a guess."""
    for note in hanging_note(
        (detectable.slice_key, detectable.topic) for detectable in detectables
    ):
        yield (
            f"{note}; how much such topics vary one of them does not show, so that the "
            f"figure is a guess"
        )


def _numbers(detectable: Detectable) -> dict[str, str | float | None]:
    scale = scale_of(detectable.task, detectable.metric)
    return {
        "task": detectable.task,
        "dataset": detectable.slice_key,
        "metric": detectable.metric,
        "pairs": detectable.pairs,
        "sentences": detectable.sentences,
        "effective_pairs": detectable.effective_pairs,
        "design_effect": detectable.uncertainty.design_effect,
        "difference": scale * detectable.difference,
        **_figure("smallest", detectable.smallest, scale),
        **_figure("planned", detectable.planned, scale),
        "seeds_needed": detectable.seeds_needed,
    }


def _figure(key: str, figure: Figure | None, scale: float) -> Mapping[str, float | None]:
    values = (
        {key: figure.value, f"{key}_low": figure.low, f"{key}_high": figure.high}
        if figure is not None
        else {}
    )
    return {name: scale * value for name, value in values.items()} or dict.fromkeys(
        (key, f"{key}_low", f"{key}_high")
    )


def _row(detectable: Detectable) -> Mapping[str, Value | TableCell]:
    effective, sign = detectable.effective_pairs, HANGS if detectable.topic is not None else ""
    return {
        **_numbers(detectable),
        "dataset": TableCell(value=detectable.key, text=detectable.slice_title),
        "effective_pairs": TableCell(
            value=effective, text=f"{effective:z.0f}" if effective > 0 else "–"
        ),
        "smallest": _figure_cell(
            detectable.smallest, scale_of(detectable.task, detectable.metric), sign=sign
        ),
        "planned": _figure_cell(
            detectable.planned, scale_of(detectable.task, detectable.metric), sign=sign
        ),
        "seeds_needed": _seeds_cell(detectable.seeds_needed),
    }


def _figure_cell(figure: Figure | None, scale: float, *, sign: str) -> TableCell | None:
    if figure is None or isnan(figure.value):
        return None
    value = scale * figure.value
    ends = "" if isnan(figure.low) else f" [{scale * figure.low:z.2f}, {scale * figure.high:z.2f}]"
    return TableCell(value=value, text=f"{value:z.2f}{ends}{sign}")


def _seeds_cell(needed: float | None) -> TableCell | None:
    if needed is None or needed != needed:
        return None
    return TableCell(value=needed, text="no number" if isinf(needed) else f"{needed:z.0f}")
