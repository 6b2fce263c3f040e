"""What a paper says below a table or figure of ours: what the numbers are, of how many items, and
what intervals and marks mean.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan

from embedlab.analysis.comparison import reach_signs
from embedlab.analysis.seed_notes import HANGS, REACHES
from embedlab.core.signs import MODELS, PAIRS_SHARED, SENTENCES_SHARED
from embedlab.data.marks import GENERATED, PARTIAL
from embedlab.data.shared_text import Overlap
from embedlab.models.grammar import titles_of
from embedlab.outcomes.cuts import DATASET
from embedlab.outcomes.grouping import is_expression
from embedlab.reports.units import measures_in, scales_of, shares_of
from embedlab.scoring.provenance import overlap_sign
from embedlab.scoring.task_comparison import TaskComparison
from embedlab.tasks.task import scale_of

DEPENDENCE = "items of one topic count as dependent"
BOLD = "Bold: the highest of the models."
_LISTED = 8  # of more slices the numbers of items are said as a range
_DATA = {
    GENERATED: "Generated data: no number is about real language.",
    PARTIAL: "Some of the data is incomplete.",
}


def comparison_caption(comparison: TaskComparison, *, rows: str = "slices") -> str:
    """Return the caption of a table of scores, with their differences where ROWS are slices."""
    shows_differences = rows == "slices" and len(comparison.models) > 1
    parts = [
        subject_of(comparison),
        *data_sentences(comparison.marks),
        *_intervals(comparison, shows_differences=shows_differences),
    ]
    parts += [*_letters(comparison, shows_differences=shows_differences)]
    if _is_ranked(comparison):
        parts.append(BOLD)
    return " ".join([*parts, *_models(comparison)])


def score_caption(comparison: TaskComparison) -> str:
    """Return the caption of a table of scores with their own intervals, where no model is compared
    with another.
    """
    brackets = (
        [f"Brackets: 95% intervals over {_over(comparison)}."] if _has_intervals(comparison) else []
    )
    brackets += [BOLD] if _is_ranked(comparison) else []
    return " ".join(
        [subject_of(comparison), *data_sentences(comparison.marks), *brackets, *_models(comparison)]
    )


def evaluation_caption(
    measured: str,
    counts: Mapping[str, int],
    *,
    marks: Sequence[str],
    seen: Iterable[Overlap | None],
    seeds: Iterable[int],
    is_ranked: bool,
) -> str:
    """Return the caption of a table of evaluated models: what is MEASURED, on how many items, the
    text that was SEEN, the SEEDS of each.

    IS_RANKED: the highest of the models is bold.
    """
    bold = [BOLD] if is_ranked else []
    return " ".join(
        [
            f"{measured}; {counted_items(counts)}.",
            *data_sentences(marks),
            *bold,
            *seen_sentences(seen),
            *_spread(seeds),
        ]
    )


def figure_caption(comparison: TaskComparison, shown: str, *, drawn: str = "Bars") -> str:
    """Return the caption of a figure that SHOWS scores or differences, with their intervals DRAWN
    as bars or bands.
    """
    intervals = (
        [f"{drawn}: 95% intervals, each on its own, over {_over(comparison)}."]
        if _has_intervals(comparison)
        else []
    )
    titles = titles_of([model.name for model in comparison.models])
    pairs = [
        titles[name]
        for name, count in comparison.counts.items()
        if any(overlap.shared_pairs for overlap in count.values())
    ]
    sentences = [
        titles[name]
        for name, count in comparison.counts.items()
        if titles[name] not in pairs and any(count.values())
    ]
    seen = trained_on(pairs, sentences)
    return " ".join(
        [
            f"{shown}: {subject_of(replace(comparison, slices=shares_of(comparison.slices)))}",
            *data_sentences(comparison.marks),
            *intervals,
            *seen,
            *_single_seeds(comparison),
        ]
    )


def trained_on(pairs: Sequence[str], sentences: Sequence[str]) -> Iterator[str]:
    """Yield whose training data holds test PAIRS, or single test SENTENCES: a figure has no
    marks.
    """
    for what, models in (("pairs", pairs), ("sentences", sentences)):
        if models:
            yield f"Test {what} are in the training data of {', '.join(models)}."


def subject_of(comparison: TaskComparison) -> str:
    """Return what the scores are and of how many items, as a sentence."""
    measures = measures_in(scales_of(comparison.slices)).replace(" x 100", " × 100")
    by = f" by {_group(comparison.slicing.by)}" if comparison.slicing.by != DATASET else ""
    where = f", items that fit {comparison.slicing.where!r}" if comparison.slicing.where else ""
    return f"{measures}{by}{where}; {items_of(comparison)}."


def items_of(comparison: TaskComparison) -> str:
    """Return how many items each slice of a comparison has."""
    counts = {
        compared.slice_title: compared.pairs
        for compared in comparison.slices
        if not compared.average_of
    }
    common = ", those that all models score" if comparison.rows is not None else ""
    return f"{counted_items(counts)}{common}"


def counted_items(counts: Mapping[str, int]) -> str:
    """Return how many items each slice has."""
    if not counts:
        return "averages"
    if len(counts) == 1:
        return f"n = {next(iter(counts.values())):,} items of {next(iter(counts))}"
    if len({*counts.values()}) == 1:
        return f"n = {next(iter(counts.values())):,} items in each of {len(counts)}"
    if len(counts) <= _LISTED:
        return f"n = {', '.join(f'{count:,} ({name})' for name, count in counts.items())} items"
    return (
        f"n = {min(counts.values()):,} to {max(counts.values()):,} items in each of {len(counts)}"
    )


def data_sentences(marks: Sequence[str]) -> Iterator[str]:
    """Yield what the marks of all numbers mean for a reader."""
    return (text for mark, text in _DATA.items() if mark in marks)


def _is_ranked(comparison: TaskComparison) -> bool:
    return len(comparison.models) > 1 and 100 in scales_of(comparison.slices).values()


def _group(by: str) -> str:
    return f"whether {by!r} holds" if is_expression(by) else by


def _intervals(comparison: TaskComparison, *, shows_differences: bool) -> Iterator[str]:
    """Yield what the brackets are, or how wide the intervals are that have no place in the
    cells.
    """
    if not _has_intervals(comparison):
        return
    if shows_differences:
        reference = titles_of([model.name for model in comparison.models])[
            comparison.models[0].name
        ]
        yield (
            f"Brackets: 95% intervals of each difference from {reference}, over "
            f"{_over(comparison)}."
        )
    else:
        half = [
            scale_of(compared.task, compared.metric) * (score.high - score.low) / 2
            for compared in comparison.slices
            for score in compared.scores.values()
            if not isnan(score.low)
        ]
        widths = (
            f"±{min(half):z.1f}"
            if f"{min(half):z.1f}" == f"{max(half):z.1f}"
            else f"±{min(half):z.1f} to ±{max(half):z.1f}"
        )
        yield f"95% intervals over {_over(comparison)}: {widths}."


def _has_intervals(comparison: TaskComparison) -> bool:
    return any(
        not isnan(score.low) for compared in comparison.slices for score in compared.scores.values()
    )


def _over(comparison: TaskComparison) -> str:
    over = (
        "items and seeds" if any(len(model.members) > 1 for model in comparison.models) else "items"
    )
    return f"{over}; {DEPENDENCE}"


def _letters(comparison: TaskComparison, *, shows_differences: bool) -> Iterator[str]:
    """Yield what letters and stars mean, and the family of the correction."""
    tests = sum(compared.tests for compared in comparison.slices)
    if not tests:
        return
    family = "the difference" if tests == 1 else f"all {tests} differences from the first model"
    if shows_differences:
        yield (
            f"{MODELS.sign} marks a difference from zero at 5% after Holm's correction over "
            f"{family} in the table."
        )
    if any(score.letters for each in comparison.slices for score in each.scores.values()):
        yield "Models that share a letter are not distinguished, corrected over each two models."
    if REACHES["checkpoints"] in reach_signs(comparison.slices):
        yield "Of single runs, numbers are about these checkpoints, not about their recipes."
    if shows_differences and any(
        difference.topic_sign
        for compared in comparison.slices
        for difference in compared.differences.values()
    ):
        yield f"{HANGS}: one topic decides the difference."
    if comparison.slicing.margin is not None and shows_differences:
        yield (
            f"= marks a difference smaller than ±{100 * comparison.slicing.margin:g} (two "
            f"one-sided tests, Holm)."
        )


def _models(comparison: TaskComparison) -> Iterator[str]:
    """Yield what must be said of the models: text seen in training, and seeds."""
    yield from seen_sentences(
        overlap for count in comparison.counts.values() for overlap in count.values()
    )
    trained = [model for model in comparison.models if model.seeds or any(model.runs)]
    yield from _spread(len(model.members) for model in trained)
    yield from _single_seeds(comparison)


def _single_seeds(comparison: TaskComparison) -> Iterator[str]:
    titles = titles_of([model.name for model in comparison.models])
    trained = [model for model in comparison.models if model.seeds or any(model.runs)]
    if single := [titles[model.name] for model in trained if len(model.members) == 1]:
        yield (
            f"One seed, so that intervals are about the checkpoint, not the recipe: "
            f"{', '.join(single)}."
        )


def seen_sentences(overlaps: Iterable[Overlap | None]) -> Iterator[str]:
    """Yield what the marks of text that a model was trained on mean."""
    signs = {overlap_sign(overlap) for overlap in overlaps}
    if PAIRS_SHARED.sign in signs:
        yield f"{PAIRS_SHARED.sign}: test pairs are in the training data."
    if SENTENCES_SHARED.sign in signs:
        yield f"{SENTENCES_SHARED.sign}: that share of the test sentences is in the training data."


def _spread(seeds: Iterable[int]) -> Iterator[str]:
    if several := sorted({count for count in seeds if count > 1}):
        yield f"±: standard deviation over {' or '.join(map(str, several))} seeds."
