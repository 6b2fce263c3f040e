"""Similarities of pairs by one model, and every score that correlates them with gold scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from embedlab.analysis.overlap import dice_of_rows
from embedlab.comparison.evidence import outcome_evidence, slices_of
from embedlab.core.errors import MissingError
from embedlab.core.note import Note
from embedlab.core.printable import count_text
from embedlab.data.dataset import SIDES
from embedlab.encoders.encoder import DescribedModel, EncoderFacts, PairScorer
from embedlab.models.encoder_kind import encoder_kind
from embedlab.models.location import spec_fingerprint
from embedlab.outcomes.frame import Outcomes, with_measures
from embedlab.runs.evaluations import StoredScore

if TYPE_CHECKING:
    from embedlab.analysis.evidence import Evidence
    from embedlab.choices import Aggregate, By
    from embedlab.core.session import ProgressCallback, StartProgress
    from embedlab.core.settings import Settings
    from embedlab.data.dataset import DatasetState, Part
    from embedlab.models.catalog import ModelSpec
    from embedlab.models.encoder_kind import RowScores

AGGREGATES: tuple[Aggregate, ...] = ("all", "mean", "wmean")
METHODS = ("spearman", "pearson")
BYS: tuple[By, ...] = ("dataset", "source", "dice")


class FilePredictions:
    """A model whose predictions another program wrote into a file, so that nothing is loaded."""

    facts = EncoderFacts()  # nothing here decided them

    def __init__(self, spec: ModelSpec) -> None:
        self.name = spec.name
        self.fingerprint = spec_fingerprint(spec, precision=self.facts.precision)


def dataset_of(state: DatasetState) -> str:
    """Return what the pairs of a part are called; a user's own file has one split, "all"."""
    return state.name if state.split in {"test", "all"} else f"{state.name}:{state.split}"


def similarities(
    spec: ModelSpec, parts: Sequence[Part], settings: Settings, start_progress: StartProgress
) -> tuple[list[pl.Series], DescribedModel, list[str]]:
    """Return the similarity of each pair of PARTS, null where it is missing, the model that
    computed them, and notes on what is missing.
    """
    if (score_rows := spec.shipped.score_rows) is not None:
        return _row_similarities(spec, score_rows, parts)
    # Imported only here: what is stored is shown without it.
    from embedlab.encoders.loading import scorer_for

    scorer = scorer_for(spec, settings, cache=settings.cache)
    if spec.kind == "dice":  # in full precision, as the property of this name
        columns = [dice_of_rows(*(part.frame[side] for side in SIDES)) for part in parts]
        return columns, scorer, []
    report = start_progress("scoring")
    # A model that is fitted on the sentences of a dataset is another one for each.
    groups = [[part] for part in parts] if spec.is_fitted else [parts]
    similar = [column for group in groups for column in _score_pairs(scorer, group, report)]
    notes: list[str] = [*_refusal_notes(parts, similar)] if _computes(spec) else []
    return similar, scorer, notes


def _score_pairs(
    scorer: PairScorer, parts: Sequence[Part], report: ProgressCallback
) -> list[pl.Series]:
    """Return the similarities of all pairs of PARTS, each distinct pair scored once."""
    pairs = pl.concat([part.frame.select(SIDES) for part in parts])
    distinct = pairs.unique(maintain_order=True)
    if hasattr(scorer, "score_frame"):
        values = scorer.score_frame(distinct, report)
    else:
        first, second = (distinct[side].to_list() for side in SIDES)
        values = scorer.score(first, second, report)
    similar = pl.Series("similarity", np.asarray(values)).fill_nan(None)
    if len(distinct) < len(pairs):
        scores = distinct.with_columns(similar)
        all_pairs = pairs.join(scores, on=SIDES, how="left", maintain_order="left")
        similar = all_pairs["similarity"]
    bounds = np.cumsum([0, *(len(part.frame) for part in parts)]).tolist()
    return [similar[start:end] for start, end in pairwise(bounds)]


def _refusal_notes(parts: Sequence[Part], similar: Sequence[pl.Series]) -> Iterator[Note]:
    """Yield how many pairs of each part have no similarity, for a model that computes vectors."""
    for part, column in zip(parts, similar, strict=True):
        if 0 < column.null_count() < len(column):
            row = int(column.is_null().arg_true()[0])
            first, second = part.frame.select(SIDES).row(row)
            text = (
                f"no vectors for {column.null_count()} of {len(column)} pairs of "
                f"{dataset_of(part.state)}; comparisons leave these out for every model: the first is pair "
                f"{row}, {first!r} and {second!r}"
            )
            yield Note(text, kind="unread")


def is_scored_row(spec: ModelSpec, similar: pl.Series) -> pl.Series:
    """Return which rows stay: what a model that computes vectors cannot read is no item, and what
    a file of scores lacks is one without a prediction.
    """
    if spec.kind == "dice" or not _computes(spec) or similar.null_count() == len(similar):
        return pl.Series([True], dtype=pl.Boolean).new_from_index(0, len(similar))
    return similar.is_not_null()


def _computes(spec: ModelSpec) -> bool:
    """Return whether SPEC computes vectors; scores that were brought may lack pairs."""
    return all(
        not part.is_prefixed or encoder_kind(part.kind).has_vectors for part in spec.uncombined
    )


def _row_similarities(
    spec: ModelSpec, score_rows: Callable[[str, Part], RowScores | None], parts: Sequence[Part]
) -> tuple[list[pl.Series], DescribedModel, list[str]]:
    """Return the similarities of a model that knows the rows of datasets, not their texts. The
    error of a part becomes a note; if all parts fail, the first error is raised.
    """
    columns, notes, errors = [], [], []
    for part in parts:
        column = pl.Series([None] * len(part.frame), dtype=pl.Float64)
        try:
            if (rows := score_rows(spec.location, part)) is not None:
                scores, note = rows
                column = pl.Series(scores, dtype=pl.Float64).fill_nan(None)
                notes.append(note)
        except MissingError as error:
            errors.append(error)
        columns.append(column)
    if errors and not notes:
        raise errors[0]
    return columns, FilePredictions(spec), [*notes, *(error.message for error in errors)]


def pair_scores(outcomes: Outcomes, member: str) -> tuple[StoredScore, ...]:
    """Return every number of a member: by dataset in three aggregations, by source and by Dice
    fifth, Spearman and Pearson.
    """
    scores: list[StoredScore] = []
    for aggregate in AGGREGATES:
        for method in METHODS:
            measured = with_measures(outcomes, method)
            for evidence in outcome_evidence(
                measured, [member], aggregate=aggregate, is_tested=False
            ):
                by = "average" if evidence.averaged_keys else "dataset"
                scores.append(_stored_score(evidence, by, aggregate))
    measured = with_measures(outcomes, *METHODS)
    for by in BYS[1:]:
        slices = slices_of(outcomes, (), by=by)
        for evidence in outcome_evidence(measured, [member], slices, is_tested=False):
            title = evidence.slice_title if by == "dice" else None
            scores.append(_stored_score(evidence, by, "all", title))
    return tuple(scores)


def _stored_score(
    evidence: Evidence, by: str, setting: str, title: str | None = None
) -> StoredScore:
    return StoredScore(
        by=by,
        slice=evidence.slice_key,
        metric=evidence.metric,
        setting=setting,
        value=float(evidence.points[0]),
        items=evidence.items,
        title=title,
    )


def pair_notes(parts: Sequence[Part]) -> list[str]:
    """Return notes on the pairs for every model: rows that were left out, and pairs of a user's own
    file that occur more than once.
    """
    notes = [
        f"{part.state.name}: {count_text(count, 'pairs')} left out, {reason}"
        for part in parts
        for reason, count in part.state.skipped.items()
    ]
    for part in (part for part in parts if part.state.origin == "file"):
        repeated = part.frame.group_by(SIDES).agg(rows=pl.len(), golds=pl.col("gold").n_unique())
        repeated = repeated.filter(pl.col("rows") > 1)
        if repeated.height:
            disputed = repeated.filter(pl.col("golds") > 1).height
            disagreement = f", {disputed} of them with different gold scores" if disputed else ""
            notes.append(
                f"{part.state.name}: {count_text(repeated.height, 'pairs occur')} more than once "
                f"({repeated['rows'].sum()} rows){disagreement}"
            )
    return notes
