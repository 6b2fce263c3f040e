"""A model written as a folder that transformers and sentence-transformers load."""

from pathlib import Path

from embedlab.core.errors import UsageError
from embedlab.evaluation.training_text import store_lineage
from embedlab.workflows.models import one_member, resolve_model
from embedlab.workflows.session import Session


def export_model(model: str, folder: Path, session: Session) -> str:
    """Write MODEL into FOLDER, which is new or empty, with its tokenizer, pooling and card; return its pooling."""
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

    encoder = load_trainable(spec, Machine(device=torch.device("cpu"), precision="float32", threads=1), offline=session.settings.offline)
    card = Path(spec.location) / "README.md"
    save_model(
        folder,
        encoder,
        card=card.read_text(encoding="utf-8") if card.is_file() else f"# {model}\n\nExported by embedlab.\n",
        add=lambda place: store_lineage(spec, place, session.settings),
        hint="name another DIR",
        is_new=True,
    )
    return str(encoder.facts.pooling)
