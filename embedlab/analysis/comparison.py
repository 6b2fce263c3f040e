"""Compare models on evidence: scores, intervals, ties and differences, slice by slice.

One procedure gives every interval, p, letter and star: influence values of each score, their covariance between rows that share a
sentence (`dependence`), the spread over seeds (`uncertainty`), one p for each two models of a slice, and Holm's correction over all
of them in the table. A difference is starred, and two models share no letter, exactly if that p is below 0.05.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan

import numpy as np

from embedlab.analysis.evidence import Evidence, member_columns
from embedlab.analysis.influence import Floats
from embedlab.analysis.letters import compact_letters
from embedlab.analysis.scores import ModelColumns
from embedlab.analysis.seed_tests import holm
from embedlab.analysis.uncertainty import FEWEST_ROWS, UNKNOWN, Uncertainty, correlation_interval, share_interval
from embedlab.analysis.weighing import Component, Weighed
from embedlab.choices import Test
from embedlab.core.names import DEFAULT_TASK
from embedlab.core.note import Note

SIGNIFICANT = 0.05
LARGE_COMPONENT = 0.5  # of Σ(component sum)²: from here one group of connected rows decides an interval
FEW_PAIRS, FEW_SENTENCES = 50, 20


@dataclass(frozen=True, kw_only=True)
class SliceScore:
    """One model on one slice: −1…1 or 0…1; nan where it is undefined."""

    value: float  # the mean over the members
    members: tuple[float, ...]
    low: float  # 95% interval over rows and members
    high: float
    letters: str  # two models of a slice share a letter exactly if they do not differ significantly
    uncertainty: Uncertainty = UNKNOWN

    @property
    def sd(self) -> float:
        """Standard deviation over the members (n − 1); nan for a single one."""
        return float(np.std(self.members, ddof=1)) if len(self.members) > 1 else nan


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A model's score minus the reference model's on one slice."""

    delta: float
    low: float  # 95% interval
    high: float
    p: float
    p_holm: float  # corrected over each two models of every slice of the comparison
    test: Test = "dyadic"  # the test of p; p is nan where the test is undefined
    uncertainty: Uncertainty = UNKNOWN
    p_equivalent: float = nan  # of "differs by the margin or more", corrected over the differences shown; nan where no margin is set

    @property
    def significant(self) -> bool:
        """Whether the difference remains after Holm's correction at 0.05; never where it is undefined."""
        return self.p_holm < SIGNIFICANT

    @property
    def equivalent(self) -> bool:
        """Whether both one-sided tests exclude a difference of the margin, after Holm's correction at 0.05."""
        return self.p_equivalent < SIGNIFICANT


@dataclass(frozen=True, kw_only=True)
class ComparedSlice:
    """Every model on one slice, or on an average of slices."""

    key: str
    title: str
    pairs: int
    scores: Mapping[str, SliceScore]  # by model
    differences: Mapping[str, Difference]  # by model, without the reference
    notes: tuple[str, ...] = ()
    average_of: tuple[str, ...] = ()  # keys of the averaged slices
    task: str = DEFAULT_TASK
    metric: str = "spearman"
    setting: str | None = None  # how sources are put together, where there is a choice
    sentences: int = 0  # distinct ones; 0 where the items are unknown
    tests: int = 0  # p-values among its models, which the correction covers
    component: Component | None = None  # of the difference in which it weighs most, or of the only model

    @property
    def is_concentrated(self) -> bool:
        """Whether one group of connected rows decides the interval: similarities of its rows beyond shared sentences are not counted."""
        return self.component is not None and self.component.share >= LARGE_COMPONENT and 2 < self.component.rows < self.pairs

    @property
    def design_effect(self) -> float:
        """The largest design effect of the differences shown, or of a single model's score; nan where nothing is tested."""
        of = [one.uncertainty for one in (self.differences or self.scores).values()]
        found = [one.design_effect for one in of if not isnan(one.rows)]
        return max(found, default=nan)


def compare_evidence(
    evidence: Sequence[Evidence],
    models: Sequence[ModelColumns],
    reference: str,
    *,
    test: Test = "dyadic",
    margin: float | None = None,
    preview: Callable[[tuple[ComparedSlice, ...]], None] | None = None,
) -> tuple[ComparedSlice, ...]:
    """Scores, differences from REFERENCE and letters; p corrected over each two models of all of the EVIDENCE.

    A closed-form TEST is used where a slice has its p and both models are single ones; it is corrected by the design effect.
    """
    drafts: list[_Draft] = []
    previews = [_scored(one, models) for one in evidence] if preview is not None else []
    for place, one in enumerate(evidence):
        if preview is not None:
            preview(tuple(previews))
        drafts.append(_Draft(one, models, test))
        if preview is not None:
            previews[place] = replace(previews[place], scores=drafts[-1].scores(), sentences=drafts[-1].sentences)
    corrected = iter(holm([p for draft in drafts for p, _ in draft.tests.values()]))
    found = [draft.compared(reference, {pair: next(corrected) for pair in draft.tests}, margin) for draft in drafts]
    return _equivalence_corrected(found) if margin is not None else tuple(found)


def _scored(one: Evidence, models: Sequence[ModelColumns]) -> ComparedSlice:
    """Return the scores of a slice without intervals, which take longer."""
    columns = member_columns(models)
    points = {model.name: one.points[[columns.index(member) for member in model.members]] for model in models}
    scores = {
        name: SliceScore(value=float(own.mean()), members=tuple(own.tolist()), low=nan, high=nan, letters="")
        for name, own in points.items()
    }
    return ComparedSlice(
        key=one.key,
        title=one.title,
        pairs=one.pairs,
        scores=scores,
        differences={},
        notes=one.notes,
        average_of=one.average_of,
        task=one.task,
        metric=one.metric,
        setting=one.setting,
    )


class _Draft(Weighed):
    """A weighed slice with the p of each two models, before the correction over slices."""

    def __init__(self, one: Evidence, models: Sequence[ModelColumns], test: Test) -> None:
        super().__init__(one, models)
        self.wanted = test
        self.closed_p = self._closed(one, test)
        self.tests = {pair: self._tested(pair) for pair in self.pairs}

    @staticmethod
    def _closed(one: Evidence, test: Test) -> Floats | None:
        """Return the p of a closed-form test; nan where a test of correlations is not defined, as for an average."""
        if test == "dyadic" or one.rows is None:  # what has no items is not tested
            return None
        p = one.closed_p(test)
        return p if p is not None or test == "mcnemar" else np.full((len(one.points), len(one.points)), nan)

    def _tested(self, pair: tuple[str, str]) -> tuple[float, Test]:
        """Return the p of "no difference" between two models, and the test it comes from."""
        own, other = (self.places[name] for name in pair)
        if self.closed_p is not None and len(own) == len(other) == 1:
            p = float(self.closed_p[own[0], other[0]])
            return design_corrected(p, self.of_pair[pair].design_effect), self.wanted
        return self.of_pair[pair].p(self.means[pair[0]] - self.means[pair[1]]), "dyadic"

    def compared(self, reference: str, corrected: Mapping[tuple[str, str], float], margin: float | None) -> ComparedSlice:
        """Return the slice, given the corrected p of each two models."""
        one = self.evidence
        scores = self.scores(self._letters(corrected))
        others = [name for name in self.means if name != reference]
        return ComparedSlice(
            key=one.key,
            title=one.title,
            pairs=one.pairs,
            scores=scores,
            differences={name: self._difference(name, reference, corrected, margin) for name in others},
            notes=(*one.notes, *self._notes()),
            average_of=one.average_of,
            task=one.task,
            metric=one.metric,
            setting=one.setting,
            sentences=self.sentences,
            tests=sum(not isnan(p) for p, _ in self.tests.values()),
            component=self.component(reference),
        )

    @property
    def sentences(self) -> int:
        """How many sentences the pairs have; 0 where no pair shares one with another."""
        return self.sums.shared.sentences if self.sums is not None else 0

    def scores(self, letters: Sequence[str] = ()) -> Mapping[str, SliceScore]:
        """Return the score of each model with its interval; LETTERS are known once all slices are."""
        return {name: self._score(name, letter) for name, letter in zip(self.means, letters or [""] * len(self.means), strict=True)}

    def _letters(self, corrected: Mapping[tuple[str, str], float]) -> list[str]:
        if all(isnan(p) for p, _ in self.tests.values()) and (self.tests or self.sums is None):
            return [""] * len(self.means)
        differs = np.zeros((len(self.means), len(self.means)), dtype=bool)
        places = {name: place for place, name in enumerate(self.means)}
        for (first, second), p in corrected.items():
            differs[places[first], places[second]] = differs[places[second], places[first]] = p < SIGNIFICANT
        return compact_letters(list(self.means.values()), differs)

    def _score(self, name: str, letters: str) -> SliceScore:
        value, uncertainty = self.means[name], self.single[name]
        if self.evidence.scale == "share":
            low, high = share_interval(value, uncertainty, self.evidence.pairs)
        elif self.evidence.scale == "correlation":
            low, high = correlation_interval(value, uncertainty)
        else:
            low, high = uncertainty.interval(value)
        members = tuple(self.evidence.points[self.places[name]].tolist())
        return SliceScore(value=value, members=members, low=low, high=high, letters=letters, uncertainty=uncertainty)

    def _difference(self, name: str, reference: str, corrected: Mapping[tuple[str, str], float], margin: float | None) -> Difference:
        pair = (name, reference) if (name, reference) in self.tests else (reference, name)
        uncertainty, (p, test) = self.of_pair[pair], self.tests[pair]
        delta = self.means[name] - self.means[reference]
        low, high = uncertainty.interval(delta)
        equivalent = uncertainty.tail(margin - abs(delta)) if margin is not None else nan
        return Difference(
            delta=delta, low=low, high=high, p=p, p_holm=corrected[pair], test=test, uncertainty=uncertainty, p_equivalent=equivalent
        )

    def _notes(self) -> Iterator[str]:
        """Yield the limitations of this slice's intervals."""
        if self.sums is None:
            if self.evidence.rows is not None:
                yield f"fewer than {FEWEST_ROWS} rows: no interval, not tested"
            return
        rows, sentences = self.sums.shared.rows, self.sums.shared.sentences
        if rows < FEW_PAIRS or sentences < FEW_SENTENCES:
            yield f"only {rows} rows with {sentences} distinct sentences: its intervals are wide and approximate"


def comparison_notes(
    found: Sequence[ComparedSlice], models: Sequence[ModelColumns], test: Test, margin: float | None = None
) -> Iterator[str]:
    """Yield remarks on intervals, stars and letters of the whole table."""
    tests = sum(one.tests for one in found)
    if not any(one.sentences for one in found):
        return
    effects = [(one.key, one.design_effect) for one in found if one.design_effect >= 1.05]
    if effects:
        listed = ", ".join(f"{key} {effect:.2f}" for key, effect in effects)
        yield Note(f"rows that share a sentence count as dependent; design effect (variance against independent rows): {listed}")
    if concentrated := [one for one in found if one.is_concentrated]:
        shares = ", ".join(f"{one.key} {one.component.rows} rows {100 * one.component.share:.0f}%" for one in concentrated if one.component)
        yield f"one group of rows connected by shared sentences carries most of the variance, so intervals may be too narrow: {shares}"
    if tests:
        over = _counted(tests, "comparison")
        full = f"letters and *: one p for each two models, corrected by Holm over {over} of the table, 5%"
        yield Note(full, short=[f"letters, *: 5% after Holm over {over}"])
    if margin is not None:
        shown = sum(not isnan(each.p_equivalent) for one in found for each in one.differences.values())
        over = _counted(shown, "difference")
        yield f"=: smaller than ±{100 * margin:g} by two one-sided tests, corrected by Holm over {over} shown, 5%"
    yield from _seed_notes([model for model in models if model.seeds or any(model.runs)])
    if test != "dyadic" and effects:
        yield f"p of {test}: corrected by each slice's design effect"


def _seed_notes(trained: Sequence[ModelColumns]) -> Iterator[str]:
    """Yield remarks on the effect of few seeds on the intervals; a seed that was named is one seed as well."""
    seeds = {model.name: len(model.members) for model in trained}
    single, two = ([name for name, count in seeds.items() if count == few] for few in (1, 2))
    if single:
        borrows = max(seeds.values()) > 1 and any(model.is_recipe and len(model.members) == 1 for model in trained)
        borrowed = "; a difference from a model of several seeds takes that one's spread" if borrows else ""
        full = f"one seed: the interval is about this checkpoint, not the recipe{borrowed}: {', '.join(single)}"
        yield Note(full, models=single, short=["one seed: the interval is about this checkpoint"])
    if two:
        pooled = "; in a difference it is pooled with the other recipe's" if len(seeds) > 1 else ""
        full = f"two seeds: the spread over seeds is hardly known, which makes intervals wide{pooled}: {', '.join(two)}"
        yield Note(full, models=two, short=["two seeds, so that intervals are wide"])


def _counted(number: int, noun: str) -> str:
    return f"the {noun}" if number == 1 else f"the {number} {noun}s"


def design_corrected(p: float, design_effect: float) -> float:
    """Return the two-sided P of a test for independent rows, its normal deviate divided by the root of the design effect."""
    from scipy.special import ndtr, ndtri

    if isnan(p) or isnan(design_effect) or design_effect <= 1:
        return p
    return float(2 * ndtr(ndtri(max(p, 1e-300) / 2) / np.sqrt(design_effect)))


def _equivalence_corrected(found: Sequence[ComparedSlice]) -> tuple[ComparedSlice, ...]:
    p = iter(holm([difference.p_equivalent for one in found for difference in one.differences.values()]))
    return tuple(
        replace(one, differences={name: replace(each, p_equivalent=next(p)) for name, each in one.differences.items()}) for one in found
    )
