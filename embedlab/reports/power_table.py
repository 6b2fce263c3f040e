"""The table of the differences between two models that can be detected."""

from collections.abc import Iterator, Sequence
from math import isinf, isnan, nan

import polars as pl

from embedlab.analysis.comparison import hanging_note
from embedlab.analysis.power import Detectable
from embedlab.analysis.seed_notes import ASSUMED, HANGS
from embedlab.models.grammar import titles_of
from embedlab.reports.captions import (
    DEPENDENCE,
    counted_items,
    data_sentences,
    measures_in,
    scales_of,
)
from embedlab.reports.frames import Row, Schema, tidy_frame
from embedlab.reports.scores import general_notes, leading_columns, titled
from embedlab.reports.tables import Column, Table, TableCell, number
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
    # for the wanted difference, or for one as large as the measured one; null where seeds vary too
    "items_needed": pl.Float64(),
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
    measures = measures_in(scales_of(detectables))
    facts = [_facts(detectable) for detectable in detectables]
    rows: list[Row] = []
    for detectable, fact in zip(detectables, facts, strict=True):
        sign = HANGS if detectable.topic is not None else ""
        effective, needed = detectable.effective_pairs, detectable.seeds_needed
        row = fact | {"items": detectable.pairs}
        row["dataset"] = TableCell(value=detectable.key, text=detectable.slice_title)
        row["effective_pairs"] = number(effective if effective > 0 else nan, digits=0)
        for key in ("smallest", "planned"):
            ends = {"low": fact[f"{key}_low"], "high": fact[f"{key}_high"]}
            row[key] = number(fact[key], sign=sign, **ends)
        row["seeds_needed"] = number(needed, digits=0)
        row["items_needed"] = number(fact["items_needed"], digits=0)
        if needed is not None and isinf(needed):
            row["seeds_needed"] = TableCell(value=needed, text="no number")
        rows.append(row)
    columns = [
        *leading_columns(facts, "dataset", "dataset"),
        Column(key="sentences", title="sentences", role="minor"),
        Column(key="effective_pairs", title="effective items", align="right", role="minor"),
        Column(key="design_effect", title="design effect", digits=2, role="minor"),
        Column(key="difference", title=f"{second} − {first}", digits=2),
        Column(key="smallest", title="detectable", align="right"),
        Column(key="items_needed", title="items needed", align="right"),
    ]
    if seeds is not None:
        columns.append(Column(key="planned", title=f"with {seeds} seeds", align="right"))
    if detect is not None:
        columns.append(Column(key="seeds_needed", title=f"seeds for {detect:g}", align="right"))
    marks = ", ".join(compared.marks)
    averages = {each.key for each in compared.slices if each.average_of}
    counts = {each.slice_title: each.pairs for each in detectables if each.key not in averages}
    caption = (
        f"Differences of {second} from {first}, {measures.replace(' x 100', ' × 100')}, and the "
        f"smallest that would be detected (5% two-sided, 80% power, one test; {DEPENDENCE}); "
        f"{counted_items(counts)}."
    )
    return Table(
        title=titled(compared, f"Detectable differences between {second} and {first}"),
        columns=columns,
        rows=rows,
        frame=tidy_frame(({**fact, "marks": marks} for fact in facts), POWER),
        notes=[
            *general_notes(compared),
            f"detectable: the smallest difference that a test at 5% finds with 80% power, "
            f"{measures}",
            "items needed: how many of this kind find the measured difference with 80% power, or "
            "one of --detect POINTS",
            *_notes(detectables, compared, detect=detect, seeds=seeds),
        ],
        signatures=compared.signatures,
        titles=titles,
        caption=lambda: " ".join([caption, *data_sentences(compared.marks)]),
    )


def _notes(
    detectables: Sequence[Detectable],
    compared: TaskComparison,
    *,
    detect: float | None,
    seeds: int | None,
) -> Iterator[str]:
    """Yield on how many seeds the figures are, how sure they are, and what is not known."""
    members = {model.name: len(model.members) for model in compared.models if model.is_recipe}
    yield (
        f"seeds: {', '.join(map(str, members.values()))} behind these numbers"
        if members
        else "neither model is a recipe with seeds: only the items vary"
    )
    if any(not isnan(detectable.smallest.low) for detectable in detectables):
        yield (
            "[ ]: 95% interval of the detectable difference: few seeds say little about their spread"
        )
        single = [name for name, count in members.items() if count == 1]
        if single and seeds is not None:
            yield (
                f"{', '.join(single)} has one seed and takes the spread of the other recipe, "
                f"{ASSUMED}"
            )
    if all(count == 1 for count in members.values()):
        if detect is not None:
            yield "no model has two seeds: how many seeds a difference needs is unknown"
        if seeds is not None:
            yield (
                f"no model has two seeds: what {seeds} seeds detect is unknown; train more seeds "
                "first, with --seeds"
            )
    for note in hanging_note((each.slice_key, each.topic) for each in detectables):
        yield (
            f"{note}; from one such topic nobody can tell how much others would vary, so that the "
            "figure is a guess"
        )


def _facts(detectable: Detectable) -> Row:
    scale = scale_of(detectable.task, detectable.metric)
    facts = {
        "task": detectable.task,
        "dataset": detectable.slice_key,
        "metric": detectable.metric,
        "pairs": detectable.pairs,
        "sentences": detectable.sentences,
        "effective_pairs": detectable.effective_pairs,
        "design_effect": detectable.uncertainty.design_effect,
        "difference": scale * detectable.difference,
        "seeds_needed": detectable.seeds_needed,
        "items_needed": detectable.items_needed,
    }
    for key, figure in (("smallest", detectable.smallest), ("planned", detectable.planned)):
        for name, end in ((key, "value"), (f"{key}_low", "low"), (f"{key}_high", "high")):
            facts[name] = None if figure is None else scale * getattr(figure, end)
    return facts
