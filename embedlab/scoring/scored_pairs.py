"""Pairs scored by models: their similarities, stored and shared, with the marks and notes of the
numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path

import polars as pl
import xxhash

from embedlab.analysis.evidence import member_columns
from embedlab.analysis.scores import (
    ModelColumns,
    ScoreFile,
    lacking_rows,
    merge_scores,
    pair_keys,
    pair_table,
    with_scores,
)
from embedlab.choices import Aggregate, Correlation
from embedlab.comparison.evidence import slices_of
from embedlab.core.errors import MissingError
from embedlab.core.names import DEFAULT_TASK
from embedlab.core.progress import StartProgress
from embedlab.core.settings import Settings
from embedlab.core.signs import OVERLAP
from embedlab.core.version import __version__
from embedlab.data.dataset import DatasetState, Part
from embedlab.data.marks import UNKNOWN_TEXT, data_marks
from embedlab.data.overlaps import KnownText, with_text_keys
from embedlab.data.pair_parts import FIFTHS_OF, OTHER_SPLITS
from embedlab.data.shared_text import Overlap, total_overlap
from embedlab.encoders.encoder import TEXT_COUNTS, EncoderFacts, FrameScorer, PairScorer
from embedlab.encoders.stored_scores import ScorePlace
from embedlab.models.catalog import Model, ModelSpec
from embedlab.models.encoder_kind import encoder_kind, is_published, score_part, scores_rows
from embedlab.models.packaged import is_packaged
from embedlab.models.shape import backends, vector_length
from embedlab.outcomes.cuts import ItemSlice
from embedlab.outcomes.frame import Outcomes
from embedlab.outcomes.pairs import KEYS, pair_outcomes
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.signature import HASH_DIGITS, Signature, joined_values, merged
from embedlab.scoring.pair_scores import BYS, Averages, pair_scores
from embedlab.scoring.provenance import (
    COMMON,
    overlap_notes,
    training_marks,
    training_notes,
    training_precision,
)
from embedlab.scoring.trained_pairs import trained_column
from embedlab.scoring.training_text import TrainingText, training_text
from embedlab.tasks.task import evaluation_without_scores
from embedlab.tasks.task import task as find_task


@dataclass(frozen=True, kw_only=True)
class ScoredPairs:
    """A pair table with one column for each member model, and the marks and notes of its
    numbers.
    """

    table: pl.DataFrame
    models: tuple[ModelColumns, ...]
    places: Mapping[str, ScorePlace]  # by member column
    facts: Mapping[
        str, Mapping[str, str]
    ]  # by member column: precision, pooling, max_tokens, truncated …
    states: tuple[DatasetState, ...]
    training_text: Mapping[str, TrainingText]  # by member column
    task: str = DEFAULT_TASK  # which scores its pairs
    common: bool = False  # whether all numbers are of the pairs that all models score
    cache: Path | None = None  # the folder of what is found of their sentences

    _slices: dict[str, list[ItemSlice]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _overlaps: dict[tuple[str, str], dict[str, Overlap]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @cached_property
    def outcomes(self) -> Outcomes:
        """Return the pairs as outcomes of all members."""
        return pair_outcomes(
            self.table,
            member_columns(self.models),
            task=self.task,
            averages=self.averages,
            keys=lambda: self.keyed.select(*KEYS),
            trained=lambda: trained_column(self.keyed.select(*KEYS), self.known_texts),
            cache=self.cache,
        )

    def slices(self, by: str) -> list[ItemSlice]:
        """Return the slices of the pairs behind all numbers."""
        if by not in self._slices:
            members = member_columns(self.models) if self.common else ()
            self._slices[by] = slices_of(self.outcomes, members, by=by, common=self.common)
        return self._slices[by]

    def pairs_of(self, items: ItemSlice) -> pl.DataFrame:
        """Return the rows of a slice."""
        return self.table[items.rows]

    @property
    def test_pairs(self) -> "ScoredPairs":
        """Return the same without STS-B's train and dev pairs, which no number of the task is
        of.
        """
        others = [f"{FIFTHS_OF}:{split}" for split in OTHER_SPLITS]  # as the pair table names them
        states = tuple(
            state
            for state in self.states
            if (state.name, state.split) not in {(FIFTHS_OF, split) for split in OTHER_SPLITS}
        )
        return replace(
            self, table=self.table.filter(~pl.col("dataset").is_in(others)), states=states
        )

    @property
    def unseen_pairs(self) -> "ScoredPairs":
        """Return the same with those pairs alone of whose sentences no member is known to have read
        any in training.
        """
        return replace(self, table=self.table.filter(self.outcomes.trained_models.is_null()))

    @cached_property
    def averages(self) -> Averages:
        """Return the averages of the task over the datasets that the table holds."""
        return find_task(self.task).averages(
            self.table["dataset"].unique(maintain_order=True).to_list(), self.task
        )

    @property
    def marks(self) -> tuple[str, ...]:
        """Return the marks of every table of these numbers: partial or generated data in evaluation
        or training.
        """
        all_marks = {
            mark
            for model in self.models
            for member in model.members
            for mark in self.member_marks(member)
        }
        return tuple(sorted(all_marks))

    def member_marks(self, member: str) -> tuple[str, ...]:
        """Return the marks of every number of one member."""
        shared = (
            *((OVERLAP,) if self.overlaps(member, "dataset") else ()),
            *((COMMON,) if self.common else ()),
        )
        return tuple(
            sorted({*data_marks(self.states), *training_marks(self.places[member].spec), *shared})
        )

    def member_notes(self, member: str) -> tuple[str, ...]:
        """Return the notes on a member's training data: what was incomplete, and what could not be
        counted.
        """
        return (*training_notes(self.places[member].spec), *self.training_text[member].notes)

    def overlaps(self, member: str, by: str) -> dict[str, Overlap]:
        """Return the text that each slice and average shares with the member's training text;
        without shared text it is absent.
        """
        if (member, by) not in self._overlaps:
            self._overlaps[member, by] = self._counted_overlaps(member, by)
        return self._overlaps[member, by]

    def _counted_overlaps(self, member: str, by: str) -> dict[str, Overlap]:
        text = self.training_text[member].text
        if text is None:
            return {}
        overlaps = {items.key: text.overlap(self.keyed[items.rows]) for items in self.slices(by)}
        if by == "dataset":
            overlaps |= {
                name: total_overlap(overlaps[key] for key in keys)
                for name, keys in self.averages.items()
            }
        return {key: counts for key, counts in overlaps.items() if counts}

    def model_overlaps(self, model: ModelColumns, by: str) -> dict[str, Overlap]:
        """Return the overlaps of a model: its members are seeds of one recipe, trained on the same
        text.
        """
        overlaps: dict[str, Overlap] = {}
        for member in model.members:
            overlaps |= self.overlaps(member, by)
        return overlaps

    def known_text(self, model: ModelColumns) -> KnownText | None:
        """Return the training text of a model, whose members, seeds of one recipe, were trained on
        the same; None where it is unknown.
        """
        return next(
            (
                known
                for member in model.members
                if (known := self.training_text[member].text) is not None
            ),
            None,
        )

    @property
    def known_texts(self) -> dict[str, KnownText]:
        """Return the training text of each model of which it is known."""
        return {
            model.name: text
            for model in self.models
            if (text := self.known_text(model)) is not None
        }

    def description(self, member: str) -> Evaluation:
        """Return the evaluation of one member without scores: everything that decides them."""
        facts, place = self.facts[member], self.places[member]
        used = EncoderFacts.of_stored(facts, precision=place.precision)
        return replace(
            evaluation_without_scores(
                self.task, member, place.fingerprint, used, [asdict(state) for state in self.states]
            ),
            is_of_pairs=True,
            earlier_fingerprint=place.earlier,
            training_precision=facts.get("training_precision"),
            seed=place.spec.seed,
            dims=vector_length(place.spec),
            backend=backends(place.spec),
            scored_by=tuple(
                version
                for version in joined_values(facts.get("embedlab"))
                if version != __version__
            ),
        )

    @cached_property
    def keyed(self) -> pl.DataFrame:
        """The table with the hashes of its sentences, so that subsets need not be hashed again."""
        return with_text_keys(self.table)


def score_models(
    models: Sequence[Model],
    parts: Sequence[Part],
    settings: Settings,
    *,
    task: str = DEFAULT_TASK,
    common: bool = False,
    progress: StartProgress | None = None,
    note: Callable[[str], None] = lambda _: None,
) -> ScoredPairs:
    """Score every pair of PARTS, which TASK evaluates, with every member of MODELS; stored scores
    are not computed again.

    Numbers are of the pairs that every member scores with COMMON, otherwise of all pairs.
    START_PROGRESS returns the progress callback for a member's name; NOTE receives what the user
    should know.
    """
    table = pair_table(parts)
    places = {
        spec.name: ScorePlace.of(spec, settings) for model in models for spec in model.members
    }
    stored = {
        name: _complete_all(parts, table, place, settings, progress, note)
        for name, place in places.items()
    }
    scored = with_scores(
        table, {name: files[0][1].scores for name, files in stored.items() if len(files) == 1}
    )
    for name, files in stored.items():
        if len(files) > 1:
            columns = [with_scores(rows, {name: file.scores})[name] for rows, file in files]
            scored = scored.with_columns(pl.concat(columns))
    scored = scored.with_columns(
        _whole_datasets(name) for name, place in places.items() if scores_rows(place.spec.kind)
    )
    scored = _without_refused(scored, places, note)
    return ScoredPairs(
        table=scored,
        models=tuple(model_columns(model) for model in models),
        places=places,
        facts={
            name: {**_joined_facts(files), **_training_facts(places[name].spec)}
            for name, files in stored.items()
        },
        states=tuple(part.state for part in parts),
        training_text={name: training_text(place.spec, settings) for name, place in places.items()},
        task=task,
        common=common,
        cache=settings.cache,
    )


def _without_refused(
    table: pl.DataFrame, places: Mapping[str, ScorePlace], note: Callable[[str], None]
) -> pl.DataFrame:
    """Return TABLE without the pairs of which a model that computes vectors has none, so that all
    numbers are of the same pairs; NOTE receives which these are.
    """
    computed = [name for name, place in places.items() if name != "dice" and _computes(place.spec)]
    for name in computed:
        refused = table.filter(pl.col(name).is_null())
        if len(refused) == len(table):
            continue  # no number is left to compare with
        if len(refused):
            first = refused.row(0, named=True)
            note(
                f"{name} has no vectors for {len(refused)} of {len(table)} pairs, which are left "
                f"out for every model: the first is pair {first['pair']} of {first['dataset']}, "
                f"{first['sentence1']!r} and {first['sentence2']!r}"
            )
            table = table.filter(pl.col(name).is_not_null())
    return table


def _computes(spec: ModelSpec) -> bool:
    """Return whether SPEC computes vectors; scores that were brought may lack pairs."""
    if spec.parts:
        return all(map(_computes, spec.parts))
    return not spec.is_prefixed or encoder_kind(spec.kind).has_vectors


def _whole_datasets(member: str) -> pl.Expr:
    """Return the scores of a member that knows rows: of a dataset that it does not know, pairs of
    equal text in another one are none.
    """
    return (
        pl.when(pl.col(member).is_not_null().all().over("dataset"))
        .then(pl.col(member))
        .alias(member)
    )


def evaluate_pairs(
    scored: ScoredPairs, members: Sequence[str] | None = None
) -> dict[str, Evaluation]:
    """Return the evaluation of MEMBERS, of all without: by dataset in three aggregations, by source
    and by Dice fifth, two correlations.
    """
    columns = member_columns(scored.models) if members is None else members
    scores = pair_scores(scored.outcomes, {by: scored.slices(by) for by in BYS}, columns)
    return {member: _evaluation(scored, member, score) for member, score in scores.items()}


def _evaluation(scored: ScoredPairs, member: str, scores: Sequence[StoredScore]) -> Evaluation:
    overlaps = {by: scored.overlaps(member, by) for by in BYS}
    return replace(
        scored.description(member),
        marks=scored.member_marks(member),
        notes=(*scored.member_notes(member), *overlap_notes(overlaps["dataset"])),
        overlaps={key: counts for overlap in overlaps.values() for key, counts in overlap.items()},
        scores=tuple(scores),
    )


def signature_of(
    scored: ScoredPairs,
    model: ModelColumns,
    *,
    by: str,
    aggregation: Sequence[Aggregate],
    metric: Correlation,
) -> Signature:
    """Return the signature of a model's numbers in a table that shows them BY slices."""
    signature, parts = (
        merged([scored.description(member).signature for member in model.members]),
        scored.slices(by),
    )
    chosen = (f"common/pairs@{_digest(scored, parts)}",) if scored.common else ()
    rows = sum(len(part.rows) for part in parts)
    data = (*signature.data, *chosen)
    return replace(
        signature,
        by=(by,),
        aggregation=tuple(aggregation),
        metric=(metric,),
        data=data,
        n=(str(rows),),
    )


def _digest(scored: ScoredPairs, parts: Sequence[ItemSlice]) -> str:
    """Return what identifies the pairs of PARTS among those of the same data."""
    digest = xxhash.xxh3_64()
    for part in parts:
        digest.update(f"{part.key}\0".encode("utf-8", "surrogatepass"))
        digest.update(scored.pairs_of(part)["pair"].to_numpy().tobytes())
    return digest.hexdigest()[:HASH_DIGITS]


def model_columns(model: Model) -> ModelColumns:
    """Return the columns of a model in a pair table."""
    seeds = tuple(spec.seed for spec in model.members if spec.seed is not None)
    runs = tuple(_runs_behind(spec) for spec in model.members)
    is_published = all(_is_published(spec) for spec in model.members)
    members = tuple(spec.name for spec in model.members)
    return ModelColumns(
        name=model.name, members=members, seeds=seeds, runs=runs, is_published=is_published
    )


def _is_published(spec: ModelSpec) -> bool:
    """Return whether a member is a checkpoint of the hub or of a package, a published table or a
    rule, and not a run or a folder.
    """
    if spec.parts:
        return all(_is_published(part) for part in spec.parts)
    if spec.adapter is not None:
        return False
    if spec.kind == "folder":
        return is_packaged(Path(spec.location))
    return (
        spec.kind in {"hub", "dice"}
        or spec.repository is not None
        or (spec.is_prefixed and is_published(spec.kind))
    )


def _runs_behind(spec: ModelSpec) -> frozenset[str]:
    """Return the runs that a member is made of."""
    if spec.parts:
        return frozenset().union(*(_runs_behind(part) for part in spec.parts))
    return frozenset({spec.name} if spec.is_run else ())


def _complete_all(
    parts: Sequence[Part],
    table: pl.DataFrame,
    place: ScorePlace,
    settings: Settings,
    progress: StartProgress | None,
    note: Callable[[str], None],
) -> list[tuple[pl.DataFrame, ScoreFile]]:
    """Return the scores of TABLE, or those of each dataset in it where the model is fitted on the
    sentences of a dataset.
    """
    if scores_rows(place.spec.kind):
        return [(table, _complete_rows(parts, table, place, note))]
    load = cache(partial(_load, place, settings))
    if not place.spec.is_fitted:
        return [(table, _complete(table, place, load, progress, note))]
    datasets = table.partition_by("dataset", maintain_order=True)
    return [(rows, _complete(rows, place.fitted(rows), load, progress, note)) for rows in datasets]


def _joined_facts(files: Sequence[tuple[pl.DataFrame, ScoreFile]]) -> dict[str, str]:
    """Return how the scores of several files were made, which differ in the numbers of odd
    sentences alone.
    """
    counts = {key: sum(int(file.facts.get(key, 0)) for _, file in files) for key in TEXT_COUNTS}
    return {**files[-1][1].facts, **{key: str(count) for key, count in counts.items() if count}}


def _complete(
    table: pl.DataFrame,
    place: ScorePlace,
    load: Callable[[], PairScorer],
    progress: StartProgress | None,
    note: Callable[[str], None],
) -> ScoreFile:
    """Return a member's stored scores; pairs of TABLE that they lack are scored now and stored."""
    try:
        stored = place.read()
    except MissingError as error:
        note(f"{error.message}: computed again")
        place.scores_file.unlink(missing_ok=True)
        stored = place.read()
    rows = lacking_rows(table, stored.scores)
    if not len(rows):
        return stored
    scorer = load()
    report = progress(place.spec.name) if progress else None
    sentences = table.select("sentence1", "sentence2")
    if (
        isinstance(scorer, FrameScorer) and len(rows) == table.height
    ):  # very many pairs are not copied into another order
        similarity = scorer.score_frame(sentences, report)[rows]
    elif isinstance(scorer, FrameScorer):
        similarity = scorer.score_frame(sentences[rows], report)
    else:
        lacking = sentences[rows]
        similarity = scorer.score(
            lacking["sentence1"].to_list(), lacking["sentence2"].to_list(), report
        )
    scores = pl.DataFrame(
        {
            "pair_key": table["pair_key"].gather(rows),
            "similarity": pl.Series(similarity, dtype=pl.Float32),
        }
    )
    newer = ScoreFile(scores=scores, facts=_facts(place, scorer.facts, stored.facts))
    for text in scorer.facts.notes:
        note(f"{place.spec.name}: {text}")
    return stored.merged(_stored(place, newer, note))


def _stored(place: ScorePlace, newer: ScoreFile, note: Callable[[str], None]) -> ScoreFile:
    """Add NEWER to a member's scores and return them all; where the disk refuses, NEWER alone."""
    try:
        return merge_scores(place.scores_file, newer)
    except MissingError as error:
        note(f"{place.spec.name}: its scores are not stored: {error.message}")
        return newer


def _complete_rows(
    parts: Sequence[Part], table: pl.DataFrame, place: ScorePlace, note: Callable[[str], None]
) -> ScoreFile:
    """Return the similarities of a member that knows the rows of datasets, not their texts; those
    of PARTS are stored by text.

    What is refused of one part is said, and raised where nothing is left.
    """
    stored = place.read()
    if table.join(stored.scores, on="pair_key", how="anti").is_empty():
        return stored
    frames, refused = [stored.scores], []
    for part in parts:
        try:
            rows = score_part(place.spec.kind, place.spec.location, part)
        except MissingError as error:
            refused.append(error)
            continue
        if rows is not None:
            frames.append(
                pl.DataFrame(
                    {
                        "pair_key": pair_keys(part.frame),
                        "similarity": pl.Series(rows.scores, dtype=pl.Float32),
                    }
                )
            )
            note(f"{place.spec.name}: {rows.note}")
    if len(frames) == 1 and refused:
        raise refused[0]
    for refusal in refused:
        note(f"{place.spec.name}: {refusal.message}")
    if len(frames) == 1:
        return stored  # an empty file would be a model of the dashboard
    scores = pl.concat(frames).unique("pair_key", keep="first", maintain_order=True)
    return _stored(
        place, ScoreFile(scores=scores, facts=_facts(place, EncoderFacts(), stored.facts)), note
    )


def _load(place: ScorePlace, settings: Settings) -> PairScorer:
    # Imported only here: a comparison of stored scores takes no longer than reading them.
    from embedlab.encoders.loading import scorer_for

    return scorer_for(place.spec, settings, cache=settings.cache)


def _facts(place: ScorePlace, facts: EncoderFacts, before: Mapping[str, str]) -> dict[str, str]:
    """Return how the scores of a file were made; BEFORE holds the facts of the scores that it
    already had.
    """
    versions = sorted({__version__, *joined_values(before.get("embedlab"))})
    counts = {key: getattr(facts, key) + int(before.get(key, 0)) for key in TEXT_COUNTS}
    described = {
        "pooling": facts.pooling,
        "max_tokens": facts.max_tokens,
        **counts,
        "embedlab": " + ".join(versions),
    }
    return {
        "fingerprint": place.fingerprint,
        **({"earlier_fingerprint": place.earlier} if place.earlier is not None else {}),
        "model": place.spec.name,
        "precision": place.precision,
        "training_text": "unknown"
        if UNKNOWN_TEXT in training_marks(place.spec)
        else "known",  # for the dashboard
        **{key: str(value) for key, value in described.items() if value is not None},
    }


def _training_facts(spec: ModelSpec) -> dict[str, str]:
    precision = training_precision(spec)
    return {"training_precision": precision} if precision else {}
