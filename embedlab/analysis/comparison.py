"""Compare models on evidence: scores, intervals, ties and differences, slice by slice.

One procedure gives every interval, p, letter and star: influence values of each score, their sums
over topics, whose signs are flipped (`sign_flips`), the spread over seeds (`uncertainty`), one p
for each two models of a slice, and Holm's correction over all of them in the table. A difference is
starred, and two models share no letter, exactly if that p is below 0.05 and they differ as shown.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from embedlab.analysis.evidence import Evidence, ModelColumns, Reach, weakest_reach
from embedlab.analysis.seed_notes import CHECKPOINT_NOTE, HANGS, seed_notes
from embedlab.analysis.seed_tests import holm
from embedlab.analysis.uncertainty import (
    UNKNOWN,
    Uncertainty,
    difference_interval,
    score_interval,
)
from embedlab.analysis.weighing import Pair, Topic, Weighed
from embedlab.core.note import Note
from embedlab.core.printable import MODELS, count_text


def compact_letters(scores: Sequence[float], differs: NDArray[np.bool_]) -> list[str]:
    """Letters of each model: two models share a letter exactly if they do not differ; "a" belongs
    to the best.

    differs: (models, models), symmetric. By insertion and absorption (Piepho 2004): one set of all
    models; each two models that differ split the sets that hold both; sets inside others are
    dropped. A model without a score (nan) has no letter.
    """
    scored = [index for index, score in enumerate(scores) if not isnan(score)]
    order = sorted(scored, key=lambda index: -scores[index])
    sets = [frozenset(range(len(order)))] if order else []  # of places in this order
    for first, second in combinations(range(len(order)), 2):
        if differs[order[first], order[second]]:
            sets = _split(sets, first, second)
    letters = [""] * len(scores)
    for number, places in enumerate(sorted(sets, key=sorted)):
        for place in places:
            letters[order[place]] += _letter(number)
    return letters


def _split(sets: Sequence[frozenset[int]], first: int, second: int) -> list[frozenset[int]]:
    """The sets without any that holds both models; those inside another are dropped."""
    parts: dict[frozenset[int], None] = {}
    for group in sets:
        has_both = {first, second} <= group
        parts |= dict.fromkeys([group - {first}, group - {second}] if has_both else [group])
    return [group for group in parts if not any(group < other for other in parts)]


def _letter(number: int) -> str:
    """Give a … z, then a2 … z2, and so on."""
    return chr(ord("a") + number % 26) + (str(number // 26 + 1) if number >= 26 else "")


SIGNIFICANT = 0.05
LEAST_SHOWN = 0.00005  # a smaller difference is shown as 0.00 x 100
FEW_PAIRS, FEW_SENTENCES, FEW_OF_CLASS = 50, 20, 30


@dataclass(frozen=True, kw_only=True)
class SliceScore:
    """One model on one slice: −1…1 or 0…1; nan where it is undefined."""

    value: float  # the mean over the members
    members: tuple[float, ...]
    low: float  # 95% interval over rows and members
    high: float
    # two models of a slice share a letter exactly if they do not differ; empty unless asked for
    letters: str = ""
    uncertainty: Uncertainty = UNKNOWN

    @property
    def sd(self) -> float:
        """Standard deviation over the members (n − 1); nan for a single one."""
        return float(np.std(self.members, ddof=1)) if len(self.members) > 1 else nan


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A model's score minus the reference model's on one slice."""

    delta: float
    low: float = nan  # 95% interval
    high: float = nan
    p: float = nan
    p_holm: float = nan  # corrected over the differences from the reference on all slices
    uncertainty: Uncertainty = UNKNOWN
    # of "differs by the margin or more", corrected over the differences shown; nan where no margin
    # is set
    p_equivalent: float = nan
    reach: Reach = "models"  # of what a star says
    topic: Topic | None = None  # the one that it hangs on

    @property
    def significant(self) -> bool:
        """Whether the difference remains after Holm's correction at 0.05; never where it is
        undefined, or shown as none.
        """
        return self.p_holm < SIGNIFICANT and abs(self.delta) >= LEAST_SHOWN

    @property
    def star(self) -> str:
        """The sign of a significant difference; empty where it is not significant."""
        return MODELS.sign * self.significant

    @property
    def topic_sign(self) -> str:
        """The sign of a difference that hangs on one topic; empty where it does not."""
        return HANGS if self.topic is not None else ""

    @property
    def equivalent(self) -> bool:
        """Whether both one-sided tests exclude a difference of the margin, after Holm's correction
        at 0.05.
        """
        return self.p_equivalent < SIGNIFICANT


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparedSlice(Evidence):
    """Every model on one slice, or on an average of slices."""

    scores: Mapping[str, SliceScore]  # by model
    differences: Mapping[str, Difference]  # by model, without the reference
    sentences: int = 0  # distinct ones; 0 where the items are unknown
    tests: int = 0  # differences from the reference, which the correction covers
    topics: float = nan  # the effective number: 1 / Σ share²; nan where nothing is tested
    # of the difference in which one topic weighs most, or of the only model
    largest_topic: Topic | None = None
    reach: Reach = "models"  # of what its letters say

    @property
    def design_effect(self) -> float:
        """The largest design effect of the differences shown, or of a single model's score; nan
        where nothing is tested.
        """
        scores = (self.differences or self.scores).values()
        effects = [score.uncertainty.design_effect for score in scores]
        return max((effect for effect in effects if not isnan(effect)), default=nan)


def compare_evidence(
    evidence: Sequence[Evidence],
    models: Sequence[ModelColumns],
    *,
    margin: float | None = None,
    has_letters: bool = False,
) -> tuple[ComparedSlice, ...]:
    """Scores and differences from the first of MODELS, p corrected over all of these; with letters
    also each two models, corrected over all pairs of models.
    """
    reference, *others = [model.name for model in models]
    pairs = [(reference, name) for name in others]
    if has_letters:
        pairs += combinations(others, 2)
    weighed_slices = [Weighed(slice_evidence, models, pairs) for slice_evidence in evidence]
    letters: list[Mapping[str, str]] = [{} for _ in weighed_slices]
    if has_letters:
        p_of_pairs = iter(holm([p for weighed in weighed_slices for p in weighed.p.values()]))
        letters = [
            _letters(weighed, {pair: next(p_of_pairs) for pair in pairs})
            for weighed in weighed_slices
        ]
    slices = [
        _compared_slice(weighed, reference, own)
        for weighed, own in zip(weighed_slices, letters, strict=True)
    ]
    differences = [difference for row in slices for difference in row.differences.values()]
    p_equivalent = [nan] * len(differences)
    if margin is not None:
        p_equivalent = [each.uncertainty.equivalence(each.delta, margin) for each in differences]
    p_holm = holm([difference.p for difference in differences])
    corrected = zip(p_holm, holm(p_equivalent), strict=True)
    corrected_slices = []
    for row in slices:
        own = {}
        for name, difference in row.differences.items():
            p, p_of_margin = next(corrected)
            own[name] = replace(difference, p_holm=p, p_equivalent=p_of_margin)
        corrected_slices.append(replace(row, differences=own))
    return tuple(corrected_slices)


def _letters(weighed: Weighed, corrected: Mapping[Pair, float]) -> dict[str, str]:
    """Return the letters of each model, given the CORRECTED p of each two."""
    names = [*weighed.means]
    is_untested = all(isnan(p) for p in corrected.values())
    if is_untested and (corrected or weighed.topics is None):
        return {}
    differs = np.zeros((len(names), len(names)), dtype=bool)
    for (first, second), p in corrected.items():
        is_shown = abs(weighed.means[first] - weighed.means[second]) >= LEAST_SHOWN
        row = names.index(first)
        column = names.index(second)
        differs[row, column] = differs[column, row] = p < SIGNIFICANT and is_shown
    letters = compact_letters([*weighed.means.values()], differs)
    return dict(zip(names, letters, strict=True))


def _compared_slice(weighed: Weighed, reference: str, letters: Mapping[str, str]) -> ComparedSlice:
    """Return the scores and the differences from the REFERENCE on a slice, as yet without a
    correction.
    """
    evidence = weighed.evidence
    topics = weighed.topics
    notes = [weighed.lack] if weighed.lack else []
    if topics is not None and (evidence.items < FEW_PAIRS or weighed.sentences < FEW_SENTENCES):
        size = f"{evidence.items} rows, {weighed.sentences} distinct sentences"
        notes.append(f"only {size}: rough intervals")
    rarer = None if evidence.rows is None else evidence.rows.rarer
    if topics is not None and rarer is not None and rarer < FEW_OF_CLASS:
        notes.append(f"only {rarer} rows {evidence.rarer_text}: rough intervals")
    differences = {
        name: measured_difference(weighed, name, reference)
        for name in weighed.means
        if name != reference
    }
    return ComparedSlice(
        **vars(evidence) | {"notes": (*evidence.notes, *notes)},
        scores={name: _score(weighed, name, letters.get(name, "")) for name in weighed.means},
        differences=differences,
        sentences=weighed.sentences,
        tests=sum(not isnan(difference.p) for difference in differences.values()),
        topics=1 / float((topics.shares**2).sum()) if topics is not None else nan,
        largest_topic=weighed.largest_topic(reference),
        reach=weakest_reach([weighed.models[name] for name in weighed.scored]),
    )


def _score(weighed: Weighed, name: str, letters: str) -> SliceScore:
    """Return the score of a model with its interval."""
    evidence = weighed.evidence
    value = weighed.means[name]
    uncertainty = weighed.score_uncertainties[name]
    low, high = score_interval(value, uncertainty, evidence.scale, evidence.items)
    return SliceScore(
        value=value,
        members=tuple(evidence.points[weighed.places[name]].tolist()),
        low=low,
        high=high,
        letters=letters,
        uncertainty=uncertainty,
    )


def measured_difference(weighed: Weighed, first: str, second: str) -> Difference:
    """Return by how much FIRST is above SECOND on a slice."""
    delta, uncertainty, p = weighed.compare(first, second)
    low, high = difference_interval(delta, uncertainty, weighed.evidence.scale)
    return Difference(
        delta=delta,
        low=low,
        high=high,
        p=p,
        uncertainty=uncertainty,
        reach=weakest_reach([weighed.models[first], weighed.models[second]]),
        topic=weighed.deciding_topic(first, second),
    )


def comparison_notes(
    slices: Sequence[ComparedSlice],
    models: Sequence[ModelColumns],
    margin: float | None = None,
    *,
    has_differences: bool = True,
) -> Iterator[str]:
    """Yield remarks on intervals, stars and letters of the whole table."""
    tests = sum(compared.tests for compared in slices)
    if not any(compared.sentences for compared in slices):
        return
    tested_slices = [compared for compared in slices if compared.sentences]
    if any(compared.items > compared.topics + 1 for compared in tested_slices):
        yield Note(
            "items of one topic count as dependent; `embedlab power` shows how many that leaves"
        )
    yield from hanging_note(
        (f"{compared.key} {name}", difference.topic)
        for compared in tested_slices
        for name, difference in compared.differences.items()
    )
    if tests:
        correction = f" (Holm over {tests} differences)" if tests > 1 else ""
        explanation = (
            f"[ ]: 95% interval, each on its own; {MODELS.sign}: not zero at 5%{correction}"
        )
        if has_differences:
            yield Note(explanation, short_texts=[explanation], kind="sign")
        if any(score.letters for compared in slices for score in compared.scores.values()):
            letters = "same letter: not distinguished (5%, Holm over all pairs of models and rows)"
            yield Note(letters, short_texts=[letters], kind="sign")
        if reach_checkpoints(slices):
            yield CHECKPOINT_NOTE
    if margin is not None:
        tested = [
            difference
            for compared in slices
            for difference in compared.differences.values()
            if not isnan(difference.p_equivalent)
        ]
        is_shown = any(difference.equivalent for difference in tested)
        shown = "=:" if is_shown else "no difference is shown"
        yield (
            f"{shown} smaller than ±{100 * margin:g} (two one-sided tests, 5%, corrected by Holm "
            f"over {len(tested)} differences)"
        )
    yield from seed_notes([model for model in models if model.seeds or any(model.runs)])


def hanging_note(topics: Iterable[tuple[str, Topic | None]]) -> Iterator[str]:
    """Yield a note on the differences that hang on a topic, with what is left of each without it;
    TOPICS are by the name of a difference as people read it.
    """
    if hanging := [(name, topic) for name, topic in topics if topic is not None]:
        listing = ", ".join(
            f"{name} {100 * topic.score_without:+z.2f} without {count_text(topic.rows, 'rows')}"
            for name, topic in hanging
        )
        text = f"{HANGS}: one topic decides: {listing}"
        yield Note(text, short_texts=[text], kind="one topic")


def reach_checkpoints(slices: Sequence[ComparedSlice]) -> bool:
    """Return whether a star or a letter of the slices may be about checkpoints alone."""
    return any(
        "checkpoints" in {compared.reach, *(row.reach for row in compared.differences.values())}
        for compared in slices
        if compared.tests > 0
    )
