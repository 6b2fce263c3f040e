"""What the command line and the dashboard show when models are compared: scores, intervals, ties and differences, slice by slice."""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.correlations import Aggregate, combine, correlated_groups, spearman
from embedlab.analysis.scores import ModelColumns
from embedlab.analysis.significance import Floats, holm, interval, member_weights, resampled_spearman, tie_groups, two_sided_p
from embedlab.analysis.slices import By, Slice, slices
from embedlab.errors import UsageError
from embedlab.names import unknown

STS_YEARS = ("sts12", "sts13", "sts14", "sts15", "sts16")
AVERAGES: Mapping[str, tuple[str, ...]] = {"sts12-16": STS_YEARS, "average of seven": (*STS_YEARS, "sts-benchmark", "sick-r")}
SIGNIFICANT = 0.05


@dataclass(frozen=True, kw_only=True)
class Score:
    """One model on one slice: Spearman, −1…1; nan where it is undefined."""

    value: float  # the mean over the members
    members: tuple[float, ...]
    low: float  # 95% interval over pairs and members
    high: float
    letters: str  # models of a slice that share a letter cannot be told apart

    @property
    def sd(self) -> float:
        """Standard deviation over the members (n − 1); nan for a single one."""
        return float(np.std(self.members, ddof=1)) if len(self.members) > 1 else float("nan")


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A model's score minus the reference model's on one slice."""

    delta: float
    low: float  # 95% interval
    high: float
    p: float
    p_holm: float  # corrected over all differences of the comparison

    @property
    def significant(self) -> bool:
        """Whether the difference stands after Holm's correction at 0.05; never where it is undefined."""
        return self.p_holm < SIGNIFICANT


@dataclass(frozen=True, kw_only=True)
class ComparedSlice:
    """Every model on one slice, or on an average of slices."""

    key: str
    title: str
    pairs: int
    scores: Mapping[str, Score]  # by model
    differences: Mapping[str, Difference]  # by model, without the reference
    notes: tuple[str, ...] = ()
    average_of: tuple[str, ...] = ()  # keys of the averaged slices


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Models compared on the slices of a pair table."""

    by: By
    aggregate: Aggregate
    models: tuple[str, ...]
    reference: str
    resamples: int
    seed: int
    slices: tuple[ComparedSlice, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know about all of it."""
        tests = sum(len(one.differences) for one in self.slices)
        if not tests or 2 * tests / (self.resamples + 1) < SIGNIFICANT:
            return ()
        return (f"{self.resamples} resamples are too few for any of {tests} differences to be significant",)


@dataclass(frozen=True, kw_only=True)
class _Evidence:
    """What is known of a slice before models are judged: one row a member column."""

    key: str
    title: str
    pairs: int
    notes: tuple[str, ...]
    points: Floats  # (members,) Spearman of each member
    draws: Floats  # (members, resamples) the same in each resample of the pairs
    average_of: tuple[str, ...] = field(default=())


def compare(
    table: pl.DataFrame,
    models: Sequence[ModelColumns],
    *,
    by: By = "dataset",
    aggregate: Aggregate = "all",
    reference: str | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    watch: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare MODELS, columns of TABLE, on each of its slices against REFERENCE (default: the first).

    Every model sees the same resampled pairs, so differences are paired. `mean` and `wmean` resample within each source; averages
    resample each dataset on its own. A model's members (seeds) are drawn with replacement too: models that list equal seeds draw
    the same ones together, others on their own. Pairs that some member did not score are left out, with a note. By Dice, a
    dataset's fifths are cut within it, or over its train, dev and test splits where all three are in the table.
    """
    names = [model.name for model in models]
    reference = _checked_reference(names, reference, by, aggregate)
    columns = list(dict.fromkeys(member for model in models for member in model.members))
    parts, evidence = slices(table, by), []
    for done, part in enumerate(parts):
        evidence.append(_weigh(part, columns, aggregate, resamples, seed))
        if watch:
            watch(done + 1, len(parts))
    if by == "dataset":
        evidence.extend(_averages(evidence))
    rows = {model.name: [columns.index(member) for member in model.members] for model in models}
    weights = {model.name: _member_weights(model, resamples, seed) for model in models}
    compared = [_judge(one, rows, weights, reference) for one in evidence]
    return Comparison(
        by=by,
        aggregate=aggregate,
        models=tuple(names),
        reference=reference,
        resamples=resamples,
        seed=seed,
        slices=_corrected(compared),
    )


def _checked_reference(names: Sequence[str], reference: str | None, by: By, aggregate: Aggregate) -> str:
    if not names:
        raise UsageError("no models to compare", hint="name one or more models")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"model {twice!r} is named twice", hint="name each model once")
    if by == "dice" and aggregate != "all":
        raise UsageError(f"Dice fifths are not aggregated over sources: {aggregate!r}", hint="leave --aggregate out, or use --by dataset")
    if reference is not None and reference not in names:
        raise unknown("model", reference, names)
    return reference or names[0]


def _weigh(part: Slice, columns: Sequence[str], aggregate: Aggregate, resamples: int, seed: int) -> _Evidence:
    whole = part.pairs.with_columns(pl.col(columns).fill_nan(None))
    pairs = whole.drop_nulls(["gold", *columns])
    gold, scores = pairs["gold"].to_numpy(), pairs.select(columns).to_numpy().T
    groups = correlated_groups(pairs, aggregate)
    # Seeded by the slice's name: its interval does not depend on the slices shown beside it.
    rng = _generator(seed, part.key)
    points = [[spearman(gold[rows], column[rows]) for column in scores] for rows in groups]
    draws = [resampled_spearman(gold[rows], scores[:, rows], resamples, rng) for rows in groups]
    return _Evidence(
        key=part.key,
        title=part.title,
        pairs=pairs.height,
        notes=(*part.notes, *_notes(whole, pairs, columns, grouped=bool(groups), aggregate=aggregate)),
        points=combine(np.reshape(points, (len(groups), len(columns))), groups, aggregate),
        draws=combine(np.reshape(draws, (len(groups), len(columns), resamples)), groups, aggregate),
    )


def _notes(before: pl.DataFrame, after: pl.DataFrame, columns: Sequence[str], *, grouped: bool, aggregate: Aggregate) -> Iterator[str]:
    if after.height < before.height:
        missing = [column for column in columns if before[column].null_count()]
        yield f"{before.height - after.height} of {before.height} pairs left out, not scored by {', '.join(missing) or 'people'}"
    if after.height and not grouped:
        yield f"no {aggregate}: its pairs name no source"


def _averages(evidence: Sequence[_Evidence]) -> Iterator[_Evidence]:
    """The usual averages over datasets, where all of theirs are there."""
    found = {one.key: one for one in evidence}
    for name, keys in AVERAGES.items():
        if found.keys() >= set(keys):
            parts = [found[key] for key in keys]
            yield _Evidence(
                key=name,
                title=name,
                pairs=sum(part.pairs for part in parts),
                notes=(),
                points=np.mean([part.points for part in parts], axis=0),
                draws=np.mean([part.draws for part in parts], axis=0),
                average_of=keys,
            )


def _member_weights(model: ModelColumns, resamples: int, seed: int) -> Floats:
    return member_weights(len(model.members), resamples, _generator(seed, f"seeds {model.seeds}" if model.seeds else model.name))


def _generator(seed: int, name: str) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def _judge(one: _Evidence, rows: Mapping[str, list[int]], weights: Mapping[str, Floats], reference: str) -> ComparedSlice:
    """Scores and differences of every model on one slice; the correction over slices is still to come."""
    members = {name: one.points[own] for name, own in rows.items()}
    draws = {name: np.einsum("mb,mb->b", one.draws[own], weights[name]) for name, own in rows.items()}
    values = {name: float(each.mean()) for name, each in members.items()}
    tested = one.draws.size > 0
    letters = tie_groups(list(values.values()), _differing(list(draws.values()))) if tested else [""] * len(values)
    scores = {
        name: _score(value, members[name], draws[name], letter) for (name, value), letter in zip(values.items(), letters, strict=True)
    }
    others = [name for name in values if name != reference]
    return ComparedSlice(
        key=one.key,
        title=one.title,
        pairs=one.pairs,
        scores=scores,
        differences={name: _difference(values[name] - values[reference], draws[name] - draws[reference]) for name in others},
        notes=one.notes,
        average_of=one.average_of,
    )


def _score(value: float, members: Floats, draws: Floats, letters: str) -> Score:
    low, high = interval(draws)
    return Score(value=value, members=tuple(members.tolist()), low=low, high=high, letters=letters)


def _difference(delta: float, draws: Floats) -> Difference:
    low, high = interval(draws)
    p = two_sided_p(draws)
    return Difference(delta=delta, low=low, high=high, p=p, p_holm=p)


def _differing(draws: Sequence[Floats]) -> NDArray[np.bool_]:
    """Which pairs of models differ on a slice, corrected over its pairs of models."""
    above = np.triu_indices(len(draws), 1)
    p = holm([two_sided_p(first - second) for first, second in combinations(draws, 2)])
    differs = np.zeros((len(draws), len(draws)), dtype=bool)
    differs[above] = p < SIGNIFICANT
    return differs | differs.T


def _corrected(compared: Sequence[ComparedSlice]) -> tuple[ComparedSlice, ...]:
    """The slices with Holm's correction over all their differences."""
    p = iter(holm([difference.p for one in compared for difference in one.differences.values()]))
    return tuple(
        replace(one, differences={name: replace(difference, p_holm=float(next(p))) for name, difference in one.differences.items()})
        for one in compared
    )
