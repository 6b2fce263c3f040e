"""The task `sts`: how well similarity orders sentence pairs as people do."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property

import polars as pl

from embedlab.analysis.correlations import correlate, spearman
from embedlab.analysis.evidence import AVERAGES
from embedlab.analysis.scores import ModelColumns, ScoreFile, merge_scores, pair_table, with_scores
from embedlab.analysis.slices import Slice, slices
from embedlab.choices import Aggregate, By, Correlation
from embedlab.core.errors import MissingError
from embedlab.core.settings import Settings
from embedlab.core.version import __version__
from embedlab.data.dataset import Part, State
from embedlab.data.overlaps import with_text_keys
from embedlab.data.shared_text import Overlap, total
from embedlab.data.source import Source
from embedlab.encoders.encoder import PairScorer, Watch
from embedlab.encoders.lexical import DiceScorer
from embedlab.encoders.stored_scores import ScorePlace
from embedlab.evaluation.prefetch import Texts
from embedlab.evaluation.provenance import OVERLAP, evaluation_marks, overlap_notes, training_marks, training_notes, training_precision
from embedlab.evaluation.stated_text import UNKNOWN_TEXT
from embedlab.evaluation.training_text import Learnt, learnt
from embedlab.models.catalog import Model, ModelSpec
from embedlab.models.shape import backends, vector_length
from embedlab.runs.evaluations import Evaluation, Score
from embedlab.runs.signature import Signature, joined_values, merged

SUMMARY = "Spearman and Pearson of similarity with human scores: STS12–16, STS-B, SICK-R"

DATASETS = ("sts12", "sts13", "sts14", "sts15", "sts16", "sts-benchmark", "sick-r")
FIFTHS_OF = "sts-benchmark"  # tsukagoshi cuts all its pairs, train, dev and test, into fifths of Dice
_OTHER_SPLITS = ("train", "dev")
AGGREGATES: tuple[Aggregate, ...] = ("all", "mean", "wmean")
METHODS: tuple[Correlation, ...] = ("spearman", "pearson")
BYS: tuple[By, ...] = ("dataset", "source", "dice")


@dataclass(frozen=True, kw_only=True)
class ScoredPairs:
    """A pair table with one column a member model, and what must be said beside its numbers."""

    table: pl.DataFrame
    models: tuple[ModelColumns, ...]
    places: Mapping[str, ScorePlace]  # by member column
    facts: Mapping[str, Mapping[str, str]]  # by member column: precision, pooling, max_tokens, truncated …
    states: tuple[State, ...]
    learnt: Mapping[str, Learnt]  # by member column

    @property
    def marks(self) -> tuple[str, ...]:
        """What every table of these numbers carries: partial or generated data, evaluated or learnt from."""
        found = {mark for member in self.places for mark in self.member_marks(member)}
        return tuple(sorted(found))

    def member_marks(self, member: str) -> tuple[str, ...]:
        """What every number of one member carries."""
        shared = (OVERLAP,) if self.overlaps(member, "dataset") else ()
        return tuple(sorted({*evaluation_marks(self.states), *training_marks(self.places[member].spec), *shared}))

    def member_notes(self, member: str) -> tuple[str, ...]:
        """What must be said of a member's training data: what was incomplete, and what could not be counted."""
        return (*training_notes(self.places[member].spec), *self.learnt[member].notes)

    def overlaps(self, member: str, by: By) -> dict[str, Overlap]:
        """What each slice, and each average of datasets, shares with the member's training text, for those where any does."""
        text = self.learnt[member].text
        if text is None:
            return {}
        found = {part.key: text.overlap(part.pairs) for part in suite_slices(self._with_keys, by)}
        if by == "dataset":
            found |= {name: total(found[key] for key in keys) for name, keys in AVERAGES.items() if found.keys() >= set(keys)}
        return {key: counts for key, counts in found.items() if counts}

    def model_overlaps(self, model: ModelColumns, by: By) -> dict[str, Overlap]:
        """The same of a model: its members, seeds of one recipe, learnt from the same text."""
        found: dict[str, Overlap] = {}
        for member in model.members:
            found |= self.overlaps(member, by)
        return found

    @cached_property
    def _with_keys(self) -> pl.DataFrame:
        return with_text_keys(self.table)


def open_parts(source: Source, datasets: Sequence[str] = DATASETS, *, fifths: bool = False) -> tuple[list[Part], list[MissingError]]:
    """The test pairs of DATASETS, and with FIFTHS the other splits of STS-B; what is missing is given back, not raised.

    Raises the first error when nothing at all could be opened.
    """
    wanted: list[tuple[str, str | None]] = [(name, None) for name in datasets]
    if fifths and FIFTHS_OF in datasets:
        wanted += [(FIFTHS_OF, split) for split in _OTHER_SPLITS]
    parts, missing = [], []
    for name, split in wanted:
        try:
            parts.append(source.open(name, split))
        except MissingError as error:
            missing.append(error)
    if not parts:
        raise missing[0]
    return parts, missing


def texts(source: Source, names: Sequence[str] = DATASETS) -> Texts:
    """What the task reads of the datasets called NAMES, with the other splits of STS-B for the fifths of the whole suite."""
    parts, missing = open_parts(source, names, fifths=names == DATASETS)
    columns = tuple(part.frame[side].to_list() for part in parts for side in ("sentence1", "sentence2"))
    return Texts(columns=columns, states=tuple(part.state for part in parts), missing=tuple(missing))


def score_models(
    models: Sequence[Model],
    parts: Sequence[Part],
    settings: Settings,
    *,
    watch: Callable[[str], Watch] | None = None,
    note: Callable[[str], None] = lambda _: None,
) -> ScoredPairs:
    """Score every pair of PARTS by every member of MODELS; what an earlier evaluation kept is not computed again.

    WATCH gives the progress callback of a member's name, NOTE is told what the user should know.
    """
    table = pair_table(parts)
    places = {spec.name: ScorePlace.of(spec, settings) for model in models for spec in model.members}
    kept = {name: _complete(table, place, settings, watch, note) for name, place in places.items()}
    return ScoredPairs(
        table=with_scores(table, {name: file.scores for name, file in kept.items()}),
        models=tuple(model_columns(model) for model in models),
        places=places,
        facts={name: {**file.facts, **_training_facts(places[name].spec)} for name, file in kept.items()},
        states=tuple(part.state for part in parts),
        learnt={name: learnt(place.spec, settings) for name, place in places.items()},
    )


def evaluate(scored: ScoredPairs, member: str) -> Evaluation:
    """Every number of one member model: by dataset in three aggregations, by source and by Dice fifth, Spearman and Pearson."""
    overlaps = {by: scored.overlaps(member, by) for by in BYS}
    return replace(
        described(scored, member),
        marks=scored.member_marks(member),
        notes=(*scored.member_notes(member), *overlap_notes(overlaps["dataset"])),
        overlaps={key: counts for found in overlaps.values() for key, counts in found.items()},
        scores=(*_dataset_scores(scored.table, member), *_slice_scores(scored.table, member)),
    )


def described(scored: ScoredPairs, member: str) -> Evaluation:
    """The evaluation of one member model before any number is computed: what decides them."""
    facts, place = scored.facts[member], scored.places[member]
    return Evaluation(
        task="sts",
        model=member,
        fingerprint=place.fingerprint,
        precision=place.precision,
        pooling=facts.get("pooling"),
        max_tokens=int(facts["max_tokens"]) if "max_tokens" in facts else None,
        truncated=int(facts.get("truncated", 0)),
        training_precision=facts.get("training_precision"),
        data=tuple({**asdict(state), "sample": state.sample} for state in scored.states),
        marks=(),
        scores=(),
        seed=place.spec.seed,
        dims=vector_length(place.spec),
        backend=backends(place.spec),
        scored_by=tuple(version for version in joined_values(facts.get("embedlab")) if version != __version__),
    )


def signature_of(
    scored: ScoredPairs, model: ModelColumns, *, by: By, aggregation: Sequence[Aggregate], metric: Correlation, rows: int
) -> Signature:
    """The signature of a model's numbers in a table that shows them BY slices of all ROWS."""
    signature = merged([described(scored, member).signature for member in model.members])
    return narrowed(signature, by=by, aggregation=aggregation, metric=metric, rows=rows)


def narrowed(signature: Signature, *, by: By, aggregation: Sequence[Aggregate], metric: Correlation, rows: int) -> Signature:
    """The part of a SIGNATURE that decides the numbers BY slices of all ROWS: other splits than test are behind the fifths alone."""
    others = tuple(f"{FIFTHS_OF}/{split}@" for split in _OTHER_SPLITS)
    data = tuple(part for part in signature.data if by == "dice" or not part.startswith(others))
    return replace(signature, by=(by,), aggregation=tuple(aggregation), metric=(metric,), data=data, n=(str(rows),))


def suite_slices(table: pl.DataFrame, by: By) -> list[Slice]:
    """The slices that the task reports; the other splits of STS-B are there for its fifths alone."""
    others = [f"{FIFTHS_OF}:{split}" for split in _OTHER_SPLITS]  # as the pair table names them
    return slices(table if by == "dice" else table.filter(~pl.col("dataset").is_in(others)), by)


def dev_score(source: Source, dataset: str) -> Callable[[PairScorer], float]:
    """What training asks now and then: Spearman x100 on the dev split of DATASET, opened once."""
    frame = source.open(dataset, "dev").frame
    first, second, gold = (frame[name].to_list() for name in ("sentence1", "sentence2", "gold"))
    return lambda scorer: 100 * spearman(gold, scorer.score(first, second))


def model_columns(model: Model) -> ModelColumns:
    """The columns of a model in a pair table."""
    seeds = tuple(spec.seed for spec in model.members if spec.seed is not None)
    runs = tuple(_runs_behind(spec) for spec in model.members)
    return ModelColumns(name=model.name, members=tuple(spec.name for spec in model.members), seeds=seeds, runs=runs)


def _runs_behind(spec: ModelSpec) -> frozenset[str]:
    """The runs that a member is made of."""
    if spec.parts:
        return frozenset().union(*(_runs_behind(part) for part in spec.parts))
    return frozenset({spec.name} if spec.kind == "run" else ())


def _complete(
    table: pl.DataFrame,
    place: ScorePlace,
    settings: Settings,
    watch: Callable[[str], Watch] | None,
    note: Callable[[str], None],
) -> ScoreFile:
    """The kept scores of a member and, where they lack pairs of TABLE, those now computed and kept."""
    try:
        kept = place.read()
    except MissingError as error:
        note(f"{error.message}: made again")
        place.scores_file.unlink(missing_ok=True)
        kept = place.read()
    lacking = table.select("pair_key", "sentence1", "sentence2").unique("pair_key").join(kept.scores, on="pair_key", how="anti")
    if lacking.is_empty():
        return kept
    scorer = _load(place, settings)
    lacking = lacking.sort("pair_key")
    similarity = scorer.score(lacking["sentence1"].to_list(), lacking["sentence2"].to_list(), watch(place.spec.name) if watch else None)
    scores = lacking.select("pair_key", similarity=pl.Series(similarity, dtype=pl.Float32))
    newer = ScoreFile(scores=scores, facts=_facts(place, scorer, kept.facts))
    for text in scorer.facts.notes:
        note(f"{place.spec.name}: {text}")
    try:
        return merge_scores(place.scores_file, newer)
    except MissingError as error:
        note(f"{place.spec.name}: its scores are not kept: {error.message}")
        return kept.merged(newer)


def _load(place: ScorePlace, settings: Settings) -> PairScorer:
    if place.spec.kind == "dice":
        return DiceScorer()
    # Only here is torch needed: comparing what was scored before stays as quick as reading it.
    from embedlab.encoders.device import machine
    from embedlab.encoders.loading import load_scorer

    return load_scorer(place.spec, machine(settings), cache=settings.cache, cache_gib=settings.cache_gib, offline=settings.offline)


def _facts(place: ScorePlace, scorer: PairScorer, before: Mapping[str, str]) -> dict[str, str]:
    """How the scores of a file were made; BEFORE says it of those that it had."""
    facts, versions = scorer.facts, sorted({__version__, *joined_values(before.get("embedlab"))})
    truncated = facts.truncated + int(before.get("truncated", 0))
    told = {"pooling": facts.pooling, "max_tokens": facts.max_tokens, "truncated": truncated, "embedlab": " + ".join(versions)}
    return {
        "fingerprint": place.fingerprint,
        "model": place.spec.name,
        "precision": place.precision,
        "training_text": "unknown" if UNKNOWN_TEXT in training_marks(place.spec) else "known",  # for the dashboard
        **{key: str(value) for key, value in told.items() if value is not None},
    }


def _training_facts(spec: ModelSpec) -> dict[str, str]:
    precision = training_precision(spec)
    return {"training_precision": precision} if precision else {}


def _dataset_scores(table: pl.DataFrame, member: str) -> Iterator[Score]:
    parts = suite_slices(table, "dataset")
    for aggregate in AGGREGATES:
        for method in METHODS:
            values = {part.key: correlate(part.pairs, member, aggregate, method) for part in parts}
            for part in parts:
                yield _score("dataset", part.key, method, aggregate, values[part.key], part.pairs.height)
            for name, keys in AVERAGES.items():
                if values.keys() >= set(keys):
                    items = sum(part.pairs.height for part in parts if part.key in keys)
                    yield _score("average", name, method, aggregate, sum(values[key] for key in keys) / len(keys), items)


def _slice_scores(table: pl.DataFrame, member: str) -> Iterator[Score]:
    for by in ("source", "dice"):
        for part in suite_slices(table, by):
            for method in METHODS:
                yield _score(by, part.key, method, "all", correlate(part.pairs, member, "all", method), part.pairs.height)


def _score(by: str, key: str, method: Correlation, aggregate: Aggregate, value: float, items: int) -> Score:
    return Score(by=by, slice=key, metric=method, setting=aggregate, value=value, items=items)
