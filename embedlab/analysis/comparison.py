"""What the command line and the dashboard show when models are compared: scores, intervals, ties and differences, slice by slice."""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan
from typing import Literal

import numpy as np
import polars as pl

from embedlab.analysis.correlations import Aggregate, combine, correlated_groups, spearman
from embedlab.analysis.paired_tests import dependent_correlations
from embedlab.analysis.scores import ModelColumns
from embedlab.analysis.seed_tests import holm
from embedlab.analysis.significance import Floats, interval, member_weights, resampled_spearman, tie_groups, two_sided_p
from embedlab.analysis.slices import By, Slice, slices
from embedlab.errors import UsageError
from embedlab.names import unknown

STS_YEARS = ("sts12", "sts13", "sts14", "sts15", "sts16")
AVERAGES: Mapping[str, tuple[str, ...]] = {"sts12-16": STS_YEARS, "average of seven": (*STS_YEARS, "sts-benchmark", "sick-r")}
SIGNIFICANT = 0.05

Test = Literal["bootstrap", "mcnemar", "williams", "steiger"]
PairTest = Literal["bootstrap", "williams", "steiger"]


@dataclass(frozen=True, kw_only=True)
class Score:
    """One model on one slice: −1…1 or 0…1; nan where it is undefined."""

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
    test: Test = "bootstrap"  # what p is of; nan where the test has no answer

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
    task: str = "sts"
    metric: str = "spearman"


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
    test: PairTest = "bootstrap"

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know about all of it."""
        tests = sum(len(one.differences) for one in self.slices) if self.test == "bootstrap" else 0
        if not tests or 2 * tests / (self.resamples + 1) < SIGNIFICANT:
            return ()
        return (f"{self.resamples} resamples are too few for any of {tests} differences to be significant",)


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What is known of a slice before models are judged: one row a member column."""

    key: str
    title: str
    pairs: int  # or items
    points: Floats  # (members,) the score of each member
    draws: Floats  # (members, resamples) the same in each resample of the pairs
    notes: tuple[str, ...] = ()
    average_of: tuple[str, ...] = ()
    task: str = "sts"
    metric: str = "spearman"
    test: Test = "bootstrap"
    p: Floats | None = None  # (members, members) of a test in closed form, for models that have one member each


def compare(
    table: pl.DataFrame,
    models: Sequence[ModelColumns],
    *,
    by: By = "dataset",
    aggregate: Aggregate = "all",
    reference: str | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    test: PairTest = "bootstrap",
    watch: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare MODELS, columns of TABLE, on each of its slices against REFERENCE (default: the first).

    Every model sees the same resampled pairs, so differences are paired. `mean` and `wmean` resample within each source; averages
    resample each dataset on its own. A model's members (seeds) are drawn with replacement too: models that list equal seeds draw
    the same ones together, others on their own. Pairs that some member did not score are left out, with a note. By Dice, a
    dataset's fifths are cut within it, or over its train, dev and test splits where all three are in the table.

    TEST says where p comes from; intervals are always those of the bootstrap. `williams` and `steiger` are for models of one
    member each and for correlations over all pairs of a slice: an average has no p then.
    """
    names = [model.name for model in models]
    reference = _checked_reference(names, reference, by, aggregate)
    _check_test(models, aggregate, test)
    evidence = pair_evidence(table, models, by=by, aggregate=aggregate, resamples=resamples, seed=seed, test=test, watch=watch)
    return Comparison(
        by=by,
        aggregate=aggregate,
        models=tuple(names),
        reference=reference,
        resamples=resamples,
        seed=seed,
        slices=judge_evidence(evidence, models, reference, resamples=resamples, seed=seed),
        test=test,
    )


def pair_evidence(
    table: pl.DataFrame,
    models: Sequence[ModelColumns],
    *,
    by: By = "dataset",
    aggregate: Aggregate = "all",
    resamples: int = 10_000,
    seed: int = 0,
    test: PairTest = "bootstrap",
    watch: Callable[[int, int], None] | None = None,
) -> list[Evidence]:
    """What the pairs of TABLE say of MODELS, slice by slice, with the usual averages of datasets; see `compare`."""
    parts, evidence = slices(table, by), []
    for done, part in enumerate(parts):
        evidence.append(_weigh(part, member_columns(models), aggregate, resamples, seed, test))
        if watch:
            watch(done + 1, len(parts))
    return [*evidence, *(_averages(evidence, test) if by == "dataset" else ())]


def judge_evidence(
    evidence: Sequence[Evidence], models: Sequence[ModelColumns], reference: str, *, resamples: int, seed: int = 0
) -> tuple[ComparedSlice, ...]:
    """Scores, tie letters, and differences from REFERENCE that are corrected over all of the EVIDENCE."""
    columns = member_columns(models)
    rows = {model.name: [columns.index(member) for member in model.members] for model in models}
    weights = {model.name: _member_weights(model, resamples, seed) for model in models}
    return _corrected([_judge(one, rows, weights, reference) for one in evidence])


def member_columns(models: Sequence[ModelColumns]) -> list[str]:
    """The rows of evidence: each member of MODELS once, in their order."""
    return list(dict.fromkeys(member for model in models for member in model.members))


def generator(seed: int, name: str) -> np.random.Generator:
    """The random numbers of what is called NAME: they do not depend on what is shown beside it."""
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def _check_test(models: Sequence[ModelColumns], aggregate: Aggregate, test: PairTest) -> None:
    if test == "bootstrap":
        return
    if aggregate != "all":
        raise UsageError(f"{test!r} tests one correlation over all pairs, not their {aggregate!r}", hint="leave --aggregate out")
    if several := next((model for model in models if len(model.members) > 1), None):
        raise UsageError(
            f"{test!r} compares single models: {several.name!r} has {len(several.members)} seeds",
            hint=f"name one seed, for example {several.members[0]}, or take --test bootstrap",
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


def _weigh(part: Slice, columns: Sequence[str], aggregate: Aggregate, resamples: int, seed: int, test: PairTest) -> Evidence:
    whole = part.pairs.with_columns(pl.col(columns).fill_nan(None))
    pairs = whole.drop_nulls(["gold", *columns])
    gold, scores = pairs["gold"].to_numpy(), pairs.select(columns).to_numpy().T
    groups = correlated_groups(pairs, aggregate)
    # Seeded by the slice's name: its interval does not depend on the slices shown beside it.
    rng = generator(seed, part.key)
    points = [[spearman(gold[rows], column[rows]) for column in scores] for rows in groups]
    draws = [resampled_spearman(gold[rows], scores[:, rows], resamples, rng) for rows in groups]
    return Evidence(
        key=part.key,
        title=part.title,
        pairs=pairs.height,
        notes=(*part.notes, *_notes(whole, pairs, columns, grouped=bool(groups), aggregate=aggregate)),
        points=combine(np.reshape(points, (len(groups), len(columns))), groups, aggregate),
        draws=combine(np.reshape(draws, (len(groups), len(columns), resamples)), groups, aggregate),
        test=test,
        p=None if test == "bootstrap" else dependent_correlations(gold, scores, test),
    )


def _notes(before: pl.DataFrame, after: pl.DataFrame, columns: Sequence[str], *, grouped: bool, aggregate: Aggregate) -> Iterator[str]:
    if after.height < before.height:
        missing = [column for column in columns if before[column].null_count()]
        yield f"{before.height - after.height} of {before.height} pairs left out, not scored by {', '.join(missing) or 'people'}"
    if after.height and not grouped:
        yield f"no {aggregate}: its pairs name no source"


def _averages(evidence: Sequence[Evidence], test: PairTest) -> Iterator[Evidence]:
    """The usual averages over datasets, where all of theirs are there."""
    found = {one.key: one for one in evidence}
    for name, keys in AVERAGES.items():
        if found.keys() >= set(keys):
            parts = [found[key] for key in keys]
            yield Evidence(
                key=name,
                title=name,
                pairs=sum(part.pairs for part in parts),
                points=np.mean([part.points for part in parts], axis=0),
                draws=np.mean([part.draws for part in parts], axis=0),
                average_of=keys,
                test=test,
                p=None if test == "bootstrap" else np.full_like(parts[0].p, np.nan),
            )


def _member_weights(model: ModelColumns, resamples: int, seed: int) -> Floats:
    return member_weights(len(model.members), resamples, generator(seed, f"seeds {model.seeds}" if model.seeds else model.name))


def _judge(one: Evidence, rows: Mapping[str, list[int]], weights: Mapping[str, Floats], reference: str) -> ComparedSlice:
    """Scores and differences of every model on one slice; the correction over slices is still to come."""
    members = {name: one.points[own] for name, own in rows.items()}
    draws = {name: np.einsum("mb,mb->b", one.draws[own], weights[name]) for name, own in rows.items()}
    values = {name: float(each.mean()) for name, each in members.items()}
    tests = {pair: _tested(one, rows, draws, pair) for pair in combinations(values, 2)}
    letters = _letters(list(values.values()), [p for p, _ in tests.values()]) if np.isfinite(one.draws).any() else [""] * len(values)
    scores = {
        name: _score(value, members[name], draws[name], letter) for (name, value), letter in zip(values.items(), letters, strict=True)
    }
    return ComparedSlice(
        key=one.key,
        title=one.title,
        pairs=one.pairs,
        scores=scores,
        differences={
            name: _difference(
                values[name] - values[reference],
                draws[name] - draws[reference],
                *tests[(name, reference) if (name, reference) in tests else (reference, name)],
            )
            for name in values
            if name != reference
        },
        notes=one.notes,
        average_of=one.average_of,
        task=one.task,
        metric=one.metric,
    )


def _tested(one: Evidence, rows: Mapping[str, list[int]], draws: Mapping[str, Floats], pair: tuple[str, str]) -> tuple[float, Test]:
    """The p of "no difference" between two models, and what gave it: the bootstrap wherever a model has several members."""
    first, second = (rows[name] for name in pair)
    if one.p is not None and len(first) == len(second) == 1:
        return float(one.p[first[0], second[0]]), one.test
    return two_sided_p(draws[pair[0]] - draws[pair[1]]), "bootstrap"


def _score(value: float, members: Floats, draws: Floats, letters: str) -> Score:
    low, high = interval(draws)
    return Score(value=value, members=tuple(members.tolist()), low=low, high=high, letters=letters)


def _difference(delta: float, draws: Floats, p: float, test: Test) -> Difference:
    low, high = interval(draws)
    return Difference(delta=delta, low=low, high=high, p=p, p_holm=p, test=test)


def _letters(values: Sequence[float], p: Sequence[float]) -> list[str]:
    """Tie letters from the p of each two models, corrected over them; none where the models could not be tested."""
    if p and all(map(isnan, p)):
        return [""] * len(values)
    differs = np.zeros((len(values), len(values)), dtype=bool)
    differs[np.triu_indices(len(values), 1)] = np.asarray(holm(p)) < SIGNIFICANT
    return tie_groups(values, differs | differs.T)


def _corrected(compared: Sequence[ComparedSlice]) -> tuple[ComparedSlice, ...]:
    """The slices with Holm's correction over all their differences."""
    p = iter(holm([difference.p for one in compared for difference in one.differences.values()]))
    return tuple(
        replace(one, differences={name: replace(difference, p_holm=next(p)) for name, difference in one.differences.items()})
        for one in compared
    )
