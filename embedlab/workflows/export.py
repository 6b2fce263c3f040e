"""A model written as a folder that transformers and sentence-transformers load."""

from contextlib import suppress
from pathlib import Path

from embedlab.core.errors import MissingError, UsageError
from embedlab.encoders.stored_scores import ScorePlace
from embedlab.reports.model_card import scores_section, usage_section
from embedlab.runs.evaluations import Evaluation
from embedlab.scoring.stored_intervals import StoredIntervals, stored_intervals
from embedlab.scoring.training_text import store_lineage
from embedlab.workflows.models import one_member, resolve_model
from embedlab.workflows.session import Session


def export_model(model: str, folder: Path, session: Session) -> str:
    """Write MODEL into FOLDER, which is new or empty, with its tokenizer, pooling and card; return
    its pooling.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{str(folder)!r} is there already", hint="name a new folder")
    spec = one_member(resolve_model(model, session))
    if spec.parts:
        message = f"{model!r} is not a transformer but a combination of {len(spec.parts)}"
        raise UsageError(message, hint=f"export one: {spec.parts[0].name}")

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
    place = ScorePlace.of(spec, session.settings)
    save_model(
        folder,
        encoder,
        card=text + usage_section(folder.name) + scores_section(_evaluations(place, session)),
        add=lambda path: store_lineage(spec, path, session.settings),
        hint="name another DIR",
        is_new=True,
    )
    return str(encoder.facts.pooling)


def _evaluations(place: ScorePlace, session: Session) -> list[tuple[Evaluation, StoredIntervals]]:
    """Return the stored evaluations of exactly this model with the intervals of their scores;
    damaged files are left out.
    """
    evaluations = []
    for path in _files(place.evaluations):
        with suppress(MissingError):
            evaluations.append(Evaluation.load(path))
    return [
        (evaluation, stored_intervals(evaluation, place, session.settings))
        for evaluation in evaluations
        if evaluation.fingerprint == place.fingerprint
    ]


def _files(folder: Path) -> list[Path]:
    """Return the files of evaluations: of whole tasks, and of single datasets where the whole task
    was not evaluated.
    """
    whole = sorted(folder.glob("*.json"))
    return [
        *whole,
        *(
            path
            for path in sorted(folder.glob("*/*.json"))
            if path.parent.with_suffix(".json") not in whole
        ),
    ]
