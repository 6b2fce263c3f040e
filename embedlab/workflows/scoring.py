"""Pairs scored by models, and every member's evaluation on them."""

from collections.abc import Sequence

from embedlab.core.errors import MissingError
from embedlab.core.names import DEFAULT_TASK
from embedlab.data.aliases import canonical_names
from embedlab.data.dataset import Part
from embedlab.data.pair_parts import open_parts
from embedlab.data.source import Source
from embedlab.models.catalog import Model
from embedlab.runs.evaluations import Evaluation
from embedlab.scoring.scored_pairs import ScoredPairs, score_models
from embedlab.tasks.task import task as find_task
from embedlab.workflows.models import check_device, resolve_models
from embedlab.workflows.session import Session

Evaluations = dict[str, Evaluation]  # by member


def score_selected(
    models: Sequence[str | Model],
    session: Session,
    *,
    task: str = DEFAULT_TASK,
    datasets: Sequence[str] | None = None,
    all_splits: bool = False,
    common: bool = False,
    opened: Sequence[Part] = (),
) -> tuple[ScoredPairs, bool]:
    """Every pair of a task, or of DATASETS, scored by every one of MODELS, and whether no dataset
    was missing; names are resolved.

    With ALL_SPLITS also STS-B's train and dev pairs; with COMMON numbers are of the pairs that all
    models score. What is missing is reported; parts that are OPENED already are not read again.
    """
    resolved = resolve_models(dict.fromkeys(models), session)
    check_device(session.settings)

    source = Source.from_settings(session.settings)
    parts, missing = list(opened), list[MissingError]()
    if not parts:
        wanted = canonical_names(datasets) if datasets else source.suite(find_task(task).datasets)
        parts, missing = open_parts(source, wanted, all_splits=all_splits)
    for error in missing:
        session.report(error)
    with session.progresses() as progress:
        scored = score_models(
            resolved,
            parts,
            session.settings,
            task=task,
            common=common,
            progress=lambda member: progress(f"scoring {member}"),
            note=session.note,
        )
    return scored, not missing


def keep(
    scored: ScoredPairs, evaluations: Evaluations, session: Session, name: str | None = None
) -> None:
    """Store every member's evaluation next to its scores, under its task's name or NAME; a disk
    that refuses costs the file, not the answer.
    """
    for member, evaluation in evaluations.items():
        try:
            evaluation.save(scored.places[member].evaluations, name)
        except MissingError as error:
            session.warn(f"{member} is not stored: {error.message}")
