"""What a table, page or paper says of its numbers: their measures and units, of how many items they
are, and what intervals and marks mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING

from embedlab.analysis.comparison import ComparedSlice, reach_signs
from embedlab.analysis.seed_notes import HANGS, REACHES
from embedlab.choices import TableScale
from embedlab.core.signs import MODELS, PAIRS_SHARED, SENTENCES_SHARED
from embedlab.data.marks import GENERATED, PARTIAL, UNKNOWN_TEXT
from embedlab.models.grammar import titles_of
from embedlab.outcomes.frame import DATASET, is_expression
from embedlab.scoring.provenance import SHORTENED, overlap_sign
from embedlab.tasks.task import scale_of

if TYPE_CHECKING:
    from embedlab.analysis.power import Detectable
    from embedlab.data.shared_text import Overlap
    from embedlab.scoring.task_comparison import TaskComparison

DEPENDENCE = "items of one topic count as dependent"
BOLD = "Bold: the highest of the models."
_LISTED = 8  # of more slices the numbers of items are said as a range
_DATA = {
    GENERATED: "Generated data: no number is about real language.",
    PARTIAL: "Partial: some of the data is incomplete.",
    SHORTENED: "Shortened: the models were not trained to the end.",
    UNKNOWN_TEXT: "What some of the models were trained on is unknown.",
}

Scales = Mapping[str, TableScale]
"""What tables multiply the numbers of each measure by, in the order of the measures."""


def scales_of(slices: Iterable[ComparedSlice | Detectable]) -> Scales:
    """Return the scales of the measures of SLICES."""
    return {compared.metric: scale_of(compared.task, compared.metric) for compared in slices}


def shares_of(slices: Iterable[ComparedSlice]) -> list[ComparedSlice]:
    """Return the slices whose numbers are shares: those that plots show."""
    return [compared for compared in slices if scale_of(compared.task, compared.metric) == 100]


def unit_of(scales: Scales) -> str:
    """Return " x 100" where all numbers are shares; else nothing, as no unit holds for all."""
    return " x 100" if {*scales.values()} == {100} else ""


def is_mixed(scales: Scales) -> bool:
    """Return whether some numbers are shares and others are not."""
    return len({*scales.values()}) > 1


def measures_in(scales: Scales) -> str:
    """Return the names of the measures, with x 100 after those that are shares, or once after all
    where all are.
    """
    names = []
    for name, scale in scales.items():
        written = name.capitalize() if name == "spearman" else name
        names.append(f"{written} x 100" if is_mixed(scales) and scale == 100 else written)
    return f"{' and '.join(names)}{unit_of(scales)}"


def comparison_caption(comparison: TaskComparison, *, rows: str = "slices") -> str:
    """Return the caption of a table of scores, with their differences where ROWS are slices."""
    shows_differences = rows == "slices" and len(comparison.models) > 1
    return _caption(
        comparison,
        *_intervals(comparison, shows_differences=shows_differences),
        *_letters(comparison, shows_differences=shows_differences),
    )


def score_caption(comparison: TaskComparison) -> str:
    """Return the caption of a table of scores with their own intervals, where no model is compared
    with another.
    """
    brackets = f"Brackets: 95% intervals over {_over(comparison)}."
    return _caption(comparison, brackets if _has_intervals(comparison) else "")


def _caption(comparison: TaskComparison, *about: str) -> str:
    is_ranked = len(comparison.models) > 1 and 100 in scales_of(comparison.slices).values()
    overlaps = [each for counts in comparison.counts.values() for each in counts.values()]
    trained = [model for model in comparison.models if model.seeds or any(model.runs)]
    return joined(
        subject_of(comparison),
        *data_sentences(comparison.marks),
        *about,
        BOLD if is_ranked else "",
        *seen_sentences(overlaps),
        *_seeds(len(model.members) for model in trained),
        _single_seeds(comparison),
    )


def joined(*sentences: str) -> str:
    """Return the SENTENCES that there are as one text."""
    return " ".join(filter(None, sentences))


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
    return joined(
        f"{measured}; {counted_items(counts)}.",
        *data_sentences(marks),
        BOLD if is_ranked else "",
        *seen_sentences(seen),
        *_seeds(seeds),
    )


def figure_caption(comparison: TaskComparison, shown: str, *, drawn: str = "Bars") -> str:
    """Return the caption of a figure that SHOWS scores or differences, with their intervals DRAWN
    as bars or bands.
    """
    intervals = f"{drawn}: 95% intervals, each on its own, over {_over(comparison)}."
    titles = titles_of([model.name for model in comparison.models])
    pairs, sentences = [], []
    for name, counts in comparison.counts.items():
        if any(overlap.shared_pairs for overlap in counts.values()):
            pairs.append(titles[name])
        elif any(counts.values()):
            sentences.append(titles[name])
    return joined(
        f"{shown}: {subject_of(replace(comparison, slices=shares_of(comparison.slices)))}",
        *data_sentences(comparison.marks),
        intervals if _has_intervals(comparison) else "",
        *trained_on(pairs, sentences),
        _single_seeds(comparison),
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
    by, where = comparison.slicing.by, comparison.slicing.where
    cut = "" if by == DATASET else f" by whether {by!r} holds" if is_expression(by) else f" by {by}"
    picked = f", items that fit {where!r}" if where else ""
    return f"{measures}{cut}{picked}; {items_of(comparison)}."


def items_of(comparison: TaskComparison) -> str:
    """Return how many items each slice of a comparison has."""
    slices = [compared for compared in comparison.slices if not compared.average_of]
    common = ", those that all models score" if comparison.rows is not None else ""
    return f"{counted_items({each.slice_title: each.pairs for each in slices})}{common}"


def counted_items(counts: Mapping[str, int]) -> str:
    """Return how many items each slice has."""
    if not counts:
        return "averages"
    least, most = min(counts.values()), max(counts.values())
    if len(counts) == 1:
        return f"n = {most:,} items of {next(iter(counts))}"
    if least == most:
        return f"n = {most:,} items in each of {len(counts)}"
    if len(counts) <= _LISTED:
        return f"n = {', '.join(f'{count:,} ({name})' for name, count in counts.items())} items"
    return f"n = {least:,} to {most:,} items in each of {len(counts)}"


def data_sentences(marks: Sequence[str]) -> Iterator[str]:
    """Yield what the marks of all numbers mean for a reader."""
    return (text for mark, text in _DATA.items() if mark in marks)


def _intervals(comparison: TaskComparison, *, shows_differences: bool) -> Iterator[str]:
    """Yield what the brackets are, or how wide the intervals are that have no place in the
    cells.
    """
    if not _has_intervals(comparison):
        return
    over = f"over {_over(comparison)}"
    if shows_differences:
        reference, *_ = titles_of([model.name for model in comparison.models]).values()
        yield f"Brackets: 95% intervals of each difference from {reference}, {over}."
        return
    widths = [
        scale_of(compared.task, compared.metric) * (score.high - score.low) / 2
        for compared in comparison.slices
        for score in compared.scores.values()
        if not isnan(score.low)
    ]
    ends = dict.fromkeys(f"±{width:z.1f}" for width in (min(widths), max(widths)))
    yield f"95% intervals {over}: {' to '.join(ends)}."


def _has_intervals(comparison: TaskComparison) -> bool:
    scores = [score for compared in comparison.slices for score in compared.scores.values()]
    return any(not isnan(score.low) for score in scores)


def _over(comparison: TaskComparison) -> str:
    has_seeds = any(len(model.members) > 1 for model in comparison.models)
    return f"{'items and seeds' if has_seeds else 'items'}; {DEPENDENCE}"


def _letters(comparison: TaskComparison, *, shows_differences: bool) -> Iterator[str]:
    """Yield what letters and stars mean, and the family of the correction."""
    tests = sum(compared.tests for compared in comparison.slices)
    if not tests:
        return
    if shows_differences:
        family = f" after Holm's correction over all {tests}" if tests > 1 else ""
        yield f"{MODELS.sign} marks a difference that is not zero at the 5% level{family}."
    if any(score.letters for each in comparison.slices for score in each.scores.values()):
        yield "Models that share a letter are not distinguished, corrected over each two models."
    if REACHES["checkpoints"] in reach_signs(comparison.slices):
        yield "With one run each, differences are about these checkpoints, not their recipes."
    if not shows_differences:
        return
    if any(each.topic for compared in comparison.slices for each in compared.differences.values()):
        yield f"{HANGS}: one topic decides the difference."
    if (margin := comparison.slicing.margin) is not None:
        points = f"{100 * margin:g}"
        yield f"= marks a difference smaller than ±{points} (two one-sided tests, Holm)."


def _single_seeds(comparison: TaskComparison) -> str:
    titles = titles_of([model.name for model in comparison.models])
    single = [
        titles[model.name]
        for model in comparison.models
        if len(model.members) == 1 and (model.seeds or any(model.runs))
    ]
    about = "One seed, so that intervals are about the checkpoint, not the recipe"
    return f"{about}: {', '.join(single)}." if single else ""


def seen_sentences(overlaps: Iterable[Overlap | None]) -> Iterator[str]:
    """Yield what the marks of text that a model was trained on mean."""
    signs = {overlap_sign(overlap) for overlap in overlaps}
    if PAIRS_SHARED.sign in signs:
        yield f"{PAIRS_SHARED.sign}: test pairs are in the training data."
    if SENTENCES_SHARED.sign in signs:
        yield f"{SENTENCES_SHARED.sign}: that share of the test sentences is in the training data."


def _seeds(counts: Iterable[int]) -> Iterator[str]:
    if several := sorted({count for count in counts if count > 1}):
        yield f"±: standard deviation over {' or '.join(map(str, several))} seeds."
