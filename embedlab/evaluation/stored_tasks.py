"""What models have stored of tasks beside the pairs of a comparison: answers to items, and figures; nothing is computed or loaded.

A plug-in's task needs no code here: its measures and their scales are those of its stored evaluations.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import xxhash

from embedlab.analysis.evidence import Evidence
from embedlab.analysis.measures import MEASURES
from embedlab.analysis.scores import ScoreFile, fingerprints_of
from embedlab.choices import TableScale
from embedlab.core.errors import MissingError
from embedlab.evaluation.answers import MemberOutcomes, answered_items, answers_of, figure_evidence
from embedlab.outcomes.frame import Outcomes
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.outcomes import StoredOutcomes, stored_outcomes


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredTasks:
    """Items with the stored answers of models, and figures without items, task by task."""

    outcomes: tuple[Outcomes, ...] = ()
    figures: tuple[Evidence, ...] = ()
    scales: Mapping[tuple[str, str], TableScale] = field(default_factory=dict)  # of numbers, by task and measure

    @property
    def digest(self) -> str:
        """A hash of every item, answer and figure."""
        found = xxhash.xxh3_128()
        for one in self.outcomes:
            found.update(repr([(block.suite, block.dataset, block.measures, block.classes) for block in one.blocks]).encode())
            for column in (*one.rows.iter_columns(), *one.predictions.iter_columns()):
                found.update(f"{column.name}\0{column.null_count()}\0".encode("utf-8", "surrogatepass"))
                found.update(column.hash().to_numpy().tobytes())
        for figure in self.figures:
            found.update(f"{figure.task}\0{figure.key}\0".encode("utf-8", "surrogatepass") + figure.points.tobytes())
        return found.hexdigest()


def stored_tasks(scores: Mapping[str, Path]) -> StoredTasks:
    """Return what members have stored of tasks of items and figures, beside the SCORES of pairs, a file of each member.

    An evaluation of other vectors than those of the scores is left out, and so is a member whose items of a dataset differ from those
    of the members before it.
    """
    known: dict[str, dict[str, Evaluation]] = {}  # by task, then by member
    for member, path in scores.items():
        for evaluation in _evaluations(path):
            before = known.setdefault(evaluation.task, {}).get(member)
            both = evaluation if before is None else replace(before, scores=(*before.scores, *evaluation.scores))
            known[evaluation.task][member] = both
    parts, figures = [], []
    for task, evaluations in sorted(known.items()):
        answers = _answers(evaluations, {member: list(_outcomes(scores[member], task)) for member in evaluations})
        found = answered_items(task, task, answers, list(scores), partial(_measures, evaluations))
        parts += [found] if found is not None else []
        figures += figure_evidence(task, answers, list(scores))
    return StoredTasks(
        outcomes=tuple(parts),
        figures=tuple(figures),
        scales={(task, score.metric): score.scale for task, own in known.items() for one in own.values() for score in one.scores},
    )


def _evaluations(scores: Path) -> Iterator[Evaluation]:
    """Yield the evaluations of items and figures beside a score file, of the same vectors."""
    of_scores = _fingerprints(scores)
    for path in sorted((scores.parent / "evaluations").rglob("*.json")):
        with suppress(MissingError):  # damaged, or of a newer version: not shown
            found = Evaluation.load(path)
            if not found.is_of_pairs and {found.fingerprint, found.earlier_fingerprint} & of_scores:
                yield found


def _outcomes(scores: Path, task: str) -> Iterator[StoredOutcomes]:
    of_scores = _fingerprints(scores)
    for found in stored_outcomes(scores.parent / "evaluations", task):
        if {found.fingerprint, found.earlier_fingerprint} & of_scores:
            yield found


def _fingerprints(scores: Path) -> set[str | None]:
    try:
        return fingerprints_of(ScoreFile.read_facts(scores)) - {None}
    except MissingError:
        return set()


def _answers(evaluations: Mapping[str, Evaluation], outcomes: Mapping[str, Sequence[StoredOutcomes]]) -> dict[str, MemberOutcomes]:
    """Return the answers of each member to a task; those to other items than the first member's are left out."""
    first: dict[str, StoredOutcomes] = {}
    answers = {}
    for member, evaluation in evaluations.items():
        there = {}
        for own in outcomes.get(member, ()):
            if _is_of_same_items(own, first.setdefault(own.name, own)):
                there[own.name] = own
        answers[member] = answers_of(there, evaluation)
    return answers


def _is_of_same_items(own: StoredOutcomes, other: StoredOutcomes) -> bool:
    columns = ["item", "gold"]
    return own.classes == other.classes and own.items.select(columns).equals(other.items.select(columns))


def _measures(evaluations: Mapping[str, Evaluation], _: str, outcomes: StoredOutcomes) -> tuple[str, ...]:
    """Return the measures of a dataset by its stored scores, in their order, as far as items can be measured by them."""
    named = [score.metric for one in evaluations.values() for score in one.scores if _is_of(score, outcomes.dataset)]
    return tuple(dict.fromkeys(name for name in named if name in MEASURES)) or ("accuracy" if outcomes.classes else "spearman",)


def _is_of(score: StoredScore, dataset: str) -> bool:
    return score.by == "dataset" and score.slice == dataset
