"""`embedlab export`: a model as a folder that transformers and sentence-transformers load."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from embedlab.commands.command import command
from embedlab.commands.options import Flag, model_flag
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.session import Session

if TYPE_CHECKING:
    from embedlab.encoders.score_place import ScorePlace
    from embedlab.runs.evaluations import Evaluation
    from embedlab.scoring.stored_intervals import Intervals


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """A model, and where it is written."""

    model: Annotated[str, model_flag()]
    folder: Annotated[
        Path, Flag(metavar="DIR", help="A folder that does not exist yet or is empty.")
    ]


@command("data runs output")
def export(options: ExportOptions, session: Session) -> None:
    """Write MODEL into DIR with its tokenizer, pooling and card.

    Examples:
        $ embedlab export snli-supcl@1 my-model
        $ embedlab export bert-base-uncased@pooling=mean bert-mean

    """
    from embedlab.encoders.score_place import ScorePlace
    from embedlab.evaluation import only_member, resolve_model
    from embedlab.reports.model_card import scores_section, usage_section
    from embedlab.scoring.training_text import store_lineage

    model, folder = options.model, options.folder
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{str(folder)!r} exists already", hint="name a new folder")
    spec = only_member(resolve_model(model, session))
    if spec.parts:
        message = f"{model!r} is not a transformer but a combination of {len(spec.parts)}"
        names = [part.name for part in spec.parts if part.is_transformer]
        hint = f"export one: {names[0]}" if names else "name a run, a folder or a model of the hub"
        raise UsageError(message, hint=hint)

    import torch

    from embedlab.encoders.checkpoint import save_model
    from embedlab.encoders.device import Machine
    from embedlab.encoders.loading import load_trainable

    encoder = load_trainable(
        spec,
        Machine(device=torch.device("cpu"), precision="float32", threads=1),
        offline=session.settings.offline,
    )
    card = Path(spec.location) / "README.md"
    text = (
        card.read_text(encoding="utf-8")
        if card.is_file()
        else f"# {model}\n\nExported by embedlab.\n"
    )
    score_place = ScorePlace.of(spec, session.settings)
    save_model(
        folder,
        encoder,
        card=text + usage_section(folder.name) + scores_section(_evaluations(score_place, session)),
        add=lambda path: store_lineage(spec, path, session.settings),
        hint="name another DIR",
        is_new=True,
    )
    pooling = str(encoder.facts.pooling)
    session.done(
        f"{model} with pooling {pooling} is in {folder}",
        folder=str(folder),
        model=model,
        pooling=pooling,
    )


def _evaluations(
    score_place: ScorePlace, session: Session
) -> list[tuple[Evaluation, Intervals | None]]:
    """Return the stored evaluations of exactly this model with the intervals of their scores;
    damaged files are left out.
    """
    from embedlab.runs.evaluations import Evaluation
    from embedlab.scoring.stored_intervals import stored_intervals

    evaluations = []
    for path in _files(score_place.evaluations):
        with suppress(MissingError):
            evaluations.append(Evaluation.load(path))
    return [
        (evaluation, stored_intervals(evaluation, score_place, session.settings))
        for evaluation in evaluations
        if evaluation.fingerprint == score_place.fingerprint
    ]


def _files(folder: Path) -> list[Path]:
    """Return the files of evaluations: of whole tasks, and of single datasets of tasks that were
    not evaluated whole.
    """
    task_files, dataset_files = (sorted(folder.glob(pattern)) for pattern in ("*.json", "*/*.json"))
    return task_files + [
        path for path in dataset_files if path.parent.with_suffix(".json") not in task_files
    ]
