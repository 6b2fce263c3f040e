"""The table of the differences between two models that can be detected."""

from collections.abc import Iterator, Sequence
from math import inf, isnan

from embedlab.analysis.comparison import hanging_note
from embedlab.analysis.power import Detectable
from embedlab.analysis.seed_notes import ASSUMED, HANGS
from embedlab.reports.frames import Row, schema_of, tidy_frame
from embedlab.reports.notes import (
    DEPENDENCE,
    counted_items,
    data_sentences,
    join_sentences,
    measures_in,
    scales_of,
    slice_notes,
)
from embedlab.reports.scores import general_notes, leading_columns, title_with_marks
from embedlab.reports.tables import ABSENT, Column, Table, TableCell, attributes, columns_of, number
from embedlab.scoring.task_comparison import TaskComparison
from embedlab.tasks.task import scale_of

POWER = schema_of(
    """
    task text
    dataset text
    metric text
    pairs count  # or items
    sentences count  # distinct ones
    effective_pairs number  # independent ones that would give as narrow an interval
    design_effect number
    difference number  # second minus first, as tables show it
    smallest number  # that is detected at 5% with 80% power
    smallest_low number  # its 95% interval, as few seeds estimate their spread poorly
    smallest_high number
    planned number  # the same with the planned number of seeds
    planned_low number
    planned_high number
    seeds_needed number  # for the wanted difference; inf where no number is enough
    # for the wanted difference, or for one as large as the measured one; null where seeds vary too
    items_needed number
    marks text
    """
)


def power_table(
    detectables: Sequence[Detectable],
    comparison: TaskComparison,
    *,
    detect: float | None,
    seeds: int | None,
) -> Table:
    """Return one row a dataset or average; DETECT is a difference in points, SEEDS the number of
    seeds of a plan.
    """
    first_title, second_title = comparison.titles.values()
    measures = measures_in(scales_of(detectables))
    marks = {"marks": ", ".join(comparison.marks)}
    rows = [_row(detectable) | marks for detectable in detectables]
    columns = [
        *leading_columns(rows, "dataset", "dataset"),
        *columns_of(
            "sentences [minor]",
            "effective_pairs = effective items [minor] >",
            "design_effect = design effect [minor] .2",
        ),
        Column("difference", f"{second_title} − {first_title}", digits=2),
        *columns_of("smallest = detectable >", "items_needed = items needed >"),
    ]
    if seeds is not None:
        columns += columns_of(f"planned = with {seeds} seeds >")
    if detect is not None:
        columns += columns_of(f"seeds_needed = seeds for {detect:g} >")
    averages = {row.key for row in comparison.slices if row.averaged_keys}
    counts = {row.slice_title: row.items for row in detectables if row.key not in averages}
    caption = (
        f"Differences of {second_title} from {first_title}, "
        f"{measures.replace(' x 100', ' × 100')}, and the smallest that would be detected "
        f"(5% two-sided, 80% power, one test; {DEPENDENCE}); {counted_items(counts)}."
    )
    title = f"Detectable differences between {second_title} and {first_title}"
    return Table(
        title_with_marks(comparison, title),
        columns,
        rows,
        [
            *general_notes(comparison),
            *slice_notes(comparison.slices),
            f"detectable: the smallest difference that a test at 5% finds with 80% power, "
            f"{measures}",
            "items needed: how many of this kind find the measured difference with 80% power, or "
            "one of --detect POINTS",
            *_notes(detectables, comparison, detect=detect, seeds=seeds),
        ],
        tidy_frame(rows, POWER),
        signatures=comparison.signatures,
        titles=comparison.titles,
        caption=lambda: join_sentences(caption, *data_sentences(comparison.marks)),
    )


def _notes(
    detectables: Sequence[Detectable],
    comparison: TaskComparison,
    *,
    detect: float | None,
    seeds: int | None,
) -> Iterator[str]:
    """Yield how many seeds the figures are about, how sure they are, and what is unknown."""
    members = {model.name: len(model.members) for model in comparison.models if model.is_recipe}
    yield (
        f"seeds: {', '.join(map(str, members.values()))} behind these numbers"
        if members
        else "neither model is a recipe with seeds: only the items vary"
    )
    if any(not isnan(detectable.smallest.low) for detectable in detectables):
        yield (
            "[ ]: 95% interval of the detectable difference: few seeds say little about their spread"
        )
        single_seeded = [name for name, count in members.items() if count == 1]
        if single_seeded and seeds is not None:
            yield (
                f"{', '.join(single_seeded)} has one seed and is given the spread of the other "
                "recipe, "
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
    for note in hanging_note((hanging.slice_key, hanging.topic) for hanging in detectables):
        yield f"{note}; how much others would vary is unknown, so this figure is a guess"


def _row(detectable: Detectable) -> Row:
    scale = scale_of(detectable.task, detectable.metric)
    effective, needed = detectable.effective_pairs, detectable.seeds_needed
    sign = HANGS if detectable.topic is not None else ""
    row: Row = {
        **attributes(detectable, "task metric items"),
        "sentences": detectable.sentences or None,  # not counted where nothing is tested
        "dataset": TableCell(detectable.slice_key, detectable.slice_title),
        "pairs": detectable.items,
        "effective_pairs": TableCell(effective, f"{effective:z.0f}" if effective > 0 else ABSENT),
        "design_effect": detectable.uncertainty.design_effect,
        "difference": scale * detectable.difference,
        "seeds_needed": TableCell(needed, "no number")
        if needed == inf
        else number(needed, digits=0),
        "items_needed": number(detectable.items_needed, digits=0),
    }
    for key, figure in attributes(detectable, "smallest planned").items():
        if figure is not None:
            value, low, high = attributes(figure, "value low high", scale).values()
            cell = number(value, low=low, high=high, sign=sign)
            row |= {key: cell, f"{key}_low": low, f"{key}_high": high}
    return row
