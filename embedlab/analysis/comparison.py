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

from embedlab.analysis.evidence import Evidence, ModelColumns, NamedSlice, Reach, weakest_reach
from embedlab.analysis.seed_notes import CHECKPOINT_NOTE, HANGS, seed_notes
from embedlab.analysis.seed_tests import holm
from embedlab.analysis.uncertainty import (
    UNKNOWN,
    Uncertainty,
    difference_interval,
    score_interval,
)
from embedlab.analysis.weighing import Topic, Weighed
from embedlab.core.names import DEFAULT_TASK
from embedlab.core.note import Note
from embedlab.core.printable import MODELS, count_text


def compact_letters(scores: Sequence[float], differs: NDArray[np.bool_]) -> list[str]:
    """Letters of each model: two models share a letter exactly if they do not differ; "a" belongs
    to the best.

    differs: (models, models), symmetric. By insertion and absorption (Piepho 2004): one set of all
    models; each two models that differ split the sets that hold both; sets inside others are
    dropped. A model without a score (nan) has no letter.
    """
    order = [
        int(index)
        for index in np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")
        if not np.isnan(scores[index])
    ]
    sets = [frozenset(order)] if order else []
    for start, first in enumerate(order):
        for second in order[start + 1 :]:
            if differs[first, second]:
                sets = _split(sets, first, second)
    rank = {index: position for position, index in enumerate(order)}
    letters = [""] * len(scores)
    for number, members in enumerate(
        sorted(sets, key=lambda members: sorted(rank[index] for index in members))
    ):
        for index in members:
            letters[index] += _letter(number)
    return letters


def _split(sets: Sequence[frozenset[int]], first: int, second: int) -> list[frozenset[int]]:
    """The sets without any that holds both models; those inside another are dropped."""
    parts = [
        part
        for group in sets
        for part in ([group - {first}, group - {second}] if {first, second} <= group else [group])
    ]
    distinct = list(dict.fromkeys(parts))
    return [group for group in distinct if not any(group < other for other in distinct)]


def _letter(number: int) -> str:
    """Give a … z, then a2 … z2, and so on."""
    return chr(ord("a") + number % 26) + (str(number // 26 + 1) if number >= 26 else "")


SIGNIFICANT = 0.05
LEAST_SHOWN = 0.00005  # a smaller difference is shown as 0.00 x 100
FEW_PAIRS, FEW_SENTENCES = 50, 20


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
    low: float  # 95% interval
    high: float
    p: float
    p_holm: float  # corrected over the differences from the reference on all slices
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


@dataclass(frozen=True, kw_only=True)
class ComparedSlice(NamedSlice):
    """Every model on one slice, or on an average of slices."""

    key: str
    title: str
    items: int
    scores: Mapping[str, SliceScore]  # by model
    differences: Mapping[str, Difference]  # by model, without the reference
    notes: tuple[str, ...] = ()
    averaged_keys: tuple[str, ...] = ()  # keys of the averaged slices
    task: str = DEFAULT_TASK
    metric: str = "spearman"
    setting: str | None = None  # how sources are put together, where there is a choice
    sentences: int = 0  # distinct ones; 0 where the items are unknown
    tests: int = 0  # differences from the reference, which the correction covers
    topics: float = nan  # the effective number: 1 / Σ share²; nan where nothing is tested
    # of the difference in which one topic weighs most, or of the only model
    largest_topic: Topic | None = None
    reach: Reach = "models"  # of what its letters say
    dataset: str = ""  # of whose items it is; empty for an average

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
    reference = models[0].name
    pairs = [
        pair
        for pair in combinations([model.name for model in models], 2)
        if has_letters or reference in pair
    ]
    drafts = [
        _Draft(slice_evidence, models, pairs, has_intervals=True) for slice_evidence in evidence
    ]
    shown_pairs = [pair for pair in pairs if reference in pair]
    corrected = iter(holm([draft.p[pair] for draft in drafts for pair in shown_pairs]))
    corrected_letters = iter(
        holm([p for draft in drafts for p in draft.p.values()]) if has_letters else ()
    )
    slices = [
        draft.compared_slice(
            reference,
            {pair: next(corrected) for pair in shown_pairs},
            {pair: next(corrected_letters) for pair in draft.p} if has_letters else None,
            margin,
        )
        for draft in drafts
    ]
    return _equivalence_corrected(slices) if margin is not None else tuple(slices)


class _Draft(Weighed):
    """A weighed slice with the p of each two models, before the correction over slices."""

    def compared_slice(
        self,
        reference: str,
        corrected: Mapping[tuple[str, str], float],
        corrected_letters: Mapping[tuple[str, str], float] | None,
        margin: float | None,
    ) -> ComparedSlice:
        """Return the slice, given the CORRECTED p of each difference from the REFERENCE;
        CORRECTED LETTERS has that of each two models where they get letters.
        """
        evidence, notes = self.evidence, [self.lack] if self.lack else []
        if self.topics is not None and (
            evidence.items < FEW_PAIRS or self.sentences < FEW_SENTENCES
        ):
            notes.append(
                f"only {evidence.items} rows, {self.sentences} distinct sentences: rough intervals"
            )
        scores = self.scores(
            self._letters(corrected_letters) if corrected_letters is not None else ()
        )
        compared_names = [name for name in self.means if name != reference]
        return ComparedSlice(
            key=evidence.key,
            title=evidence.title,
            items=evidence.items,
            scores=scores,
            differences={
                name: self._difference(name, reference, corrected, margin)
                for name in compared_names
            },
            notes=(*evidence.notes, *notes),
            averaged_keys=evidence.averaged_keys,
            task=evidence.task,
            metric=evidence.metric,
            setting=evidence.setting,
            dataset=evidence.dataset,
            sentences=self.sentences,
            tests=sum(not isnan(self.p[pair]) for pair in corrected),
            topics=1 / float((self.topics.shares**2).sum()) if self.topics is not None else nan,
            largest_topic=self.largest_topic(reference),
            reach=weakest_reach(
                [self.models[name] for name, mean in self.means.items() if not isnan(mean)]
            ),
        )

    def scores(self, letters: Sequence[str] = ()) -> Mapping[str, SliceScore]:
        """Return the score of each model with its interval; LETTERS are known once all slices
        are.
        """
        scores = {}
        for index, (name, value) in enumerate(self.means.items()):
            uncertainty = self.score_uncertainties[name]
            low, high = score_interval(value, uncertainty, self.evidence.scale, self.evidence.items)
            scores[name] = SliceScore(
                value=value,
                members=tuple(self.evidence.points[self.places[name]].tolist()),
                low=low,
                high=high,
                letters=letters[index] if letters else "",
                uncertainty=uncertainty,
            )
        return scores

    def _letters(self, corrected: Mapping[tuple[str, str], float]) -> list[str]:
        if all(isnan(p) for p in corrected.values()) and (corrected or self.topics is None):
            return [""] * len(self.means)
        differs = np.zeros((len(self.means), len(self.means)), dtype=bool)
        indices = {name: index for index, name in enumerate(self.means)}
        for (first, second), p in corrected.items():
            differs[indices[first], indices[second]] = differs[indices[second], indices[first]] = (
                p < SIGNIFICANT and abs(self.means[first] - self.means[second]) >= LEAST_SHOWN
            )
        return compact_letters(list(self.means.values()), differs)

    def _difference(
        self,
        name: str,
        reference: str,
        corrected: Mapping[tuple[str, str], float],
        margin: float | None,
    ) -> Difference:
        delta, uncertainty, p = self.compare(name, reference)
        low, high = difference_interval(delta, uncertainty, self.evidence.scale)
        topic = self.topic_of(name, reference)
        return Difference(
            delta=delta,
            low=low,
            high=high,
            p=p,
            p_holm=corrected[reference, name],
            uncertainty=uncertainty,
            p_equivalent=uncertainty.equivalence(delta, margin) if margin is not None else nan,
            reach=weakest_reach([self.models[name], self.models[reference]]),
            topic=topic
            if topic is not None and topic.decides(delta, self.evidence.items)
            else None,
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
        count = sum(
            not isnan(difference.p_equivalent)
            for compared in slices
            for difference in compared.differences.values()
        )
        yield (
            f"=: smaller than ±{100 * margin:g} (two one-sided tests, 5%, corrected by Holm over "
            f"{count} differences)"
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


def _equivalence_corrected(slices: Sequence[ComparedSlice]) -> tuple[ComparedSlice, ...]:
    p = iter(
        holm(
            [
                difference.p_equivalent
                for compared in slices
                for difference in compared.differences.values()
            ]
        )
    )
    return tuple(
        replace(
            compared,
            differences={
                name: replace(uncorrected, p_equivalent=next(p))
                for name, uncorrected in compared.differences.items()
            },
        )
        for compared in slices
    )
