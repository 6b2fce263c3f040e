"""The task `contrast`: whether a model puts a sentence that follows from an anchor closer to it
than one that contradicts it.

People wrote the triples: labelled pairs of SICK, of counterfactually revised SNLI and of SNLI's
premises, or a file with three columns. The triples of one set are made by a rule, as every table
with it says. The task measures entailment, not sameness of meaning: an entailed sentence may say
much less than its anchor. An item is a triple; its prediction is the margin between the two
similarities in units of the model's spread on the dataset. The triples of an anchor are averaged
before the anchors are.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.measures import MEASURES, margins
from embedlab.analysis.overlap import dice_of_rows
from embedlab.analysis.tags import word_counts
from embedlab.choices import TableScale
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.printable import count_text
from embedlab.core.session import ProgressCallback, StartProgress
from embedlab.core.settings import Settings
from embedlab.data.dataset import Part
from embedlab.data.derived import COLUMNS, SOURCES, holds_contrasts, open_contrasts
from embedlab.data.source import Source, open_available
from embedlab.encoders.encoder import PairScorer
from embedlab.models.catalog import ModelSpec
from embedlab.outcomes.properties.standard import PHENOMENON, phenomenon_of
from embedlab.runs.evaluations import StoredScore
from embedlab.tasks.task import (
    GoldItems,
    Selection,
    Task,
    TaskResult,
    Texts,
    evaluation_of,
    outcomes_of,
    part_items,
    part_texts,
    score,
    skipped_notes,
)

CLOSER, MARGIN = "entailed closer", "margin"
SPLIT = "test"
# sentences that are searched in training text
_TRIPLET = dict(zip(COLUMNS, ("anchor", "positive", "negative"), strict=True))


def anchor_numbers(part: Part) -> NDArray[np.intp]:
    """Return the number of each triple's anchor, in alphabetical order; (items,)."""
    return part.frame["sentence1"].rank("dense").to_numpy().astype(np.intp)


def margins_by(
    scorer: PairScorer, part: Part, progress: ProgressCallback | None = None
) -> NDArray[np.float64]:
    """Return the margin of each triple by SCORER; a score that is missing is a UsageError."""
    anchors, entailed, contradicted = (part.frame[name].to_list() for name in COLUMNS)
    scores = scorer.score([*anchors, *anchors], [*entailed, *contradicted], progress)
    if missing_scores := int(np.isnan(scores).sum()):
        message = (
            f"{scorer.name!r} has no score for {missing_scores} of the {len(scores)} pairs of "
            f"{part.state.name}"
        )
        raise UsageError(
            message, hint="a file of scores needs all of them; models with vectors need no file"
        )
    return margins(*np.split(scores, 2))


class Contrast(Task):
    """Triples of an anchor, an entailed and a contradicted sentence."""

    name = "contrast"
    summary = (
        "entailment: is an entailed sentence closer to its anchor than a contradicting one? "
        "SICK, revised SNLI, SNLI, your own triples"
    )
    datasets = tuple(SOURCES)
    # the sets that people wrote
    averaged = tuple(name for name, source in SOURCES.items() if source.rule is None)

    def has_dataset(self, name: str) -> bool:
        """Return whether NAME is a set of contrasts, or a user's own file of them."""
        return name in self.datasets or holds_contrasts(name)

    def texts(self, source: Source, selection: Selection) -> Texts:
        """Return the sentences of the selected triples."""
        return part_texts(*_open_parts(source, selection.names or self.datasets), COLUMNS)

    def items(self, source: Source, names: Sequence[str]) -> list[GoldItems]:
        """Return the triples of the datasets in NAMES; they have no classes."""
        return [
            part_items(part, part.frame["sentence1"], SPLIT)
            for part in _open_parts(source, names)[0]
        ]

    def evaluate(
        self,
        spec: ModelSpec,
        settings: Settings,
        start_progress: StartProgress,
        selection: Selection,
    ) -> TaskResult:
        """Return the margins of one member on the selected triples."""
        from embedlab.encoders.loading import scorer_for  # heavy

        parts, missing_errors = _open_parts(
            Source.from_settings(settings), selection.names or self.datasets
        )
        scorer = scorer_for(spec, settings, cache=settings.cache)
        margins_of_parts = [margins_by(scorer, part, start_progress("sentences")) for part in parts]
        scores = list(chain(*map(contrast_scores, parts, margins_of_parts)))
        notes = [*map(baseline_note, parts), *skipped_notes(missing_errors)]
        names = [part.state.name for part in parts]
        averages = {} if selection.names else self.averages(names, self.name)
        scores += _average_scores(averages, scores)
        evaluation = evaluation_of(self.name, scorer, [part.state for part in parts], scores, notes)
        outcomes = tuple(
            outcomes_of(
                evaluation,
                part,
                anchor_numbers(part),
                part_margins,
                is_class=False,
                split=SPLIT,
                rows=range(len(part.frame)),
            )
            for part, part_margins in zip(parts, margins_of_parts, strict=True)
        )
        tested = tuple(Part(frame=part.frame.rename(_TRIPLET), state=part.state) for part in parts)
        return TaskResult(
            evaluation=evaluation,
            missing=tuple(missing_errors),
            tested=tested,
            outcomes=outcomes,
            averages=averages,
        )

    def measures(self, dataset: str) -> tuple[str, ...]:
        """Return the share of anchors whose entailed sentence is closer, then the margin."""
        return CLOSER, MARGIN

    def scale_of(self, metric: str) -> TableScale:
        """Return 1 for the margin, which is in units of a model's spread."""
        return 1 if metric == MARGIN else 100

    def averages(self, datasets: Sequence[str], name: str) -> Mapping[str, Sequence[str]]:
        """Return the average over the three sets that people wrote; every table that has it has
        their own rows too.
        """
        return {"average of three": self.averaged} if {*self.averaged} <= {*datasets} else {}


def contrast_scores(part: Part, item_margins: NDArray[np.float64]) -> Iterator[StoredScore]:
    """Yield the measures of a dataset, then those of each of its phenomena."""
    name = part.state.name
    anchors = anchor_numbers(part)
    slices = [("dataset", name, np.arange(len(item_margins)))]
    kinds = phenomenon_of(part.frame["sentence2"], part.frame["contradicted"])
    for kind in sorted(kinds.unique().to_list(), key=PHENOMENON.place):
        rows = np.flatnonzero((kinds == kind).to_numpy())
        slices.append((PHENOMENON.name, f"{name} {kind}", rows))
    for by, title, rows in slices:
        for metric in (CLOSER, MARGIN):
            value = MEASURES[metric].value(anchors[rows], item_margins[rows])
            yield score(title, metric, value, len(rows), SPLIT, by=by)


def baseline_note(part: Part) -> str:
    """Return how often the entailed sentence is the one with more of the anchor's words, and the
    one nearer in length; ties count half.
    """
    closer = MEASURES[CLOSER].value
    anchors = anchor_numbers(part)
    first, second, third = (part.frame[name] for name in COLUMNS)
    overlap = dice_of_rows(first, second) - dice_of_rows(first, third)
    lengths = [word_counts(texts).cast(pl.Int64) for texts in (first, second, third)]
    nearness = (lengths[2] - lengths[0]).abs() - (lengths[1] - lengths[0]).abs()
    by_overlap = 100 * closer(anchors, overlap.to_numpy())
    by_length = 100 * closer(anchors, nearness.to_numpy())
    return (
        f"{part.state.name}: {count_text(len(anchors), 'triples')}; the entailed one is closer by "
        f"word overlap in {by_overlap:.2f}%, by length in {by_length:.2f}%, by chance in 50%"
    )


def _average_scores(
    averages: Mapping[str, Sequence[str]], scores: Sequence[StoredScore]
) -> Iterator[StoredScore]:
    by_slice = {(stored.slice, stored.metric): stored for stored in scores}
    for title, names in averages.items():
        for metric in (CLOSER, MARGIN):
            members = [by_slice[name, metric] for name in names]
            value = float(np.mean([stored.value for stored in members]))
            items = sum(stored.items for stored in members)
            yield score(title, metric, value, items, SPLIT, by="average")


def _open_parts(source: Source, names: Sequence[str]) -> tuple[list[Part], list[MissingError]]:
    return open_available(names, lambda name: open_contrasts(source, name))


TASK = Contrast()
