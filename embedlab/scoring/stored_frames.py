"""What models predicted, as it is stored, as outcomes again: similarities of pairs, or answers to
items; no sentence is encoded.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from embedlab.analysis.scores import pair_table, with_scores
from embedlab.analysis.slices import joined_splits
from embedlab.core.errors import EmbedlabError
from embedlab.data.dataset import Part
from embedlab.data.source import Source, dataset_names
from embedlab.outcomes.frame import Outcomes
from embedlab.outcomes.pairs import pair_outcomes
from embedlab.runs.outcomes import StoredOutcomes
from embedlab.runs.signature import data_part
from embedlab.scoring.answers import MemberOutcomes
from embedlab.scoring.frames import item_outcomes
from embedlab.scoring.prefetch import plain_state
from embedlab.scoring.selection import SelectedTask
from embedlab.tasks.task import Task
from embedlab.tasks.task import task as find_task


@dataclass(frozen=True, kw_only=True)
class StoredMember:
    """One member model of which predictions may be stored."""

    name: str  # of its column
    title: str  # in messages
    fingerprint: str  # of its vectors
    scores: Callable[[], pl.DataFrame | None]  # similarities of pairs; None where none are stored
    answers: Callable[
        [str], Mapping[str, StoredOutcomes]
    ]  # outcomes by dataset on a task, as stored evaluations name it
    is_overlap: bool = False  # word overlap, which pairs have anyway


@dataclass(frozen=True, kw_only=True)
class StoredFrame:
    """The outcomes of all members on a task, and why some or all are absent."""

    outcomes: Callable[[bool], Outcomes | None] = lambda _: (
        None
    )  # with True, all splits of a dataset as one
    lacking: tuple[str, ...] = ()  # members of which nothing is stored
    absent: tuple[str, ...] = ()  # pairs that are not available as they were scored


Parts = Callable[
    [Task], tuple[list[Part], tuple[str, ...]]
]  # of pairs, as they were scored, and why others are absent


def stored_frame(
    name: str,
    selected: SelectedTask,
    members: Sequence[StoredMember],
    parts: Parts,
    cache: Path | None,
) -> StoredFrame:
    """Return what is stored of MEMBERS on the task that evaluations call NAME; PARTS opens its
    pairs, CACHE has what is known of texts.
    """
    return _FRAMES[find_task(selected.task).outcomes](name, selected, members, parts, cache)


def _of_pairs(
    name: str,
    selected: SelectedTask,
    members: Sequence[StoredMember],
    parts: Parts,
    cache: Path | None,
) -> StoredFrame:
    task = find_task(selected.task)
    scores = {member.name: member.scores() for member in members if not member.is_overlap}
    lacking = tuple(
        f"{member.title}: no scores of pairs are stored under {member.fingerprint}"
        for member in members
        if _lacks(scores, member)
    )
    there, absent = parts(task)
    if lacking or not there:
        return StoredFrame(lacking=lacking, absent=absent)
    scored = with_scores(
        pair_table(there), {member: score for member, score in scores.items() if score is not None}
    )
    scored = scored.with_columns(
        pl.col("dice").alias(member.name) for member in members if member.is_overlap
    )
    columns = [member.name for member in members]

    def outcomes(is_joined: bool) -> Outcomes:
        pairs = joined_splits(scored) if is_joined else scored
        averages = task.averages(pairs["dataset"].unique(maintain_order=True).to_list(), task.name)
        return pair_outcomes(pairs, columns, task=task.name, averages=averages, cache=cache)

    return StoredFrame(outcomes=outcomes, absent=absent)


def _lacks(scores: Mapping[str, pl.DataFrame | None], member: StoredMember) -> bool:
    return member.name in scores and scores[member.name] is None


def _of_items(
    name: str,
    selected: SelectedTask,
    members: Sequence[StoredMember],
    parts: Parts,
    cache: Path | None,
) -> StoredFrame:
    answers = {member.name: member.answers(name) for member in members}
    lacking = tuple(
        f"{member.title}: no outcomes on {name} are stored under {member.fingerprint}"
        for member in members
        if not answers[member.name]
    )
    common = set.intersection(*map(set, answers.values()))
    if not common:
        return StoredFrame(lacking=lacking)
    known = {
        member: _only({key: answer[key] for key in answer if key in common})
        for member, answer in answers.items()
    }
    return StoredFrame(
        outcomes=lambda _: item_outcomes(selected, known, list(known)), lacking=lacking
    )


def _only(outcomes: Mapping[str, StoredOutcomes]) -> MemberOutcomes:
    return MemberOutcomes(outcomes=outcomes, scores=(), overlaps={}, marks=(), notes=())


_FRAMES = {"pairs": _of_pairs, "items": _of_items, "none": _of_items}


@dataclass(frozen=True, kw_only=True)
class WantedPart:
    """A split of a dataset, or a user's own file, as it was scored."""

    name: str
    split: str | None  # None: the whole of a file
    content: str  # its `data_part`
    paths: Sequence[str] = ()  # of a file, where it may be


def unchanged_parts(
    wanted: Collection[WantedPart], task: Task, source: Source
) -> Iterator[tuple[Part | None, str]]:
    """Yield each of the WANTED parts of TASK as SOURCE has it, or None and why it is not available
    as it was scored.
    """
    for needed in wanted:
        is_declared = needed.name in dataset_names()
        if not (
            task.has_dataset(needed.name) if is_declared else needed.split is None
        ):  # of another task
            continue
        places = [needed.name] if is_declared else needed.paths
        try:
            parts = [
                source.open(location, needed.split if is_declared else None) for location in places
            ]
        except EmbedlabError as error:
            yield None, error.message
            continue
        same = [part for part in parts if data_part(plain_state(part.state)) == needed.content]
        if same:
            yield same[0], ""
        elif places:
            yield None, f"{needed.name} is not available in the version that was scored"
