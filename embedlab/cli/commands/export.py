"""`embedlab export`: a model as a folder that transformers and sentence-transformers load."""

from pathlib import Path
from typing import Annotated

import typer

from embedlab.cli.models import ModelName
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import UsageError

EXAMPLES = examples("embedlab export snli-supcl@1 my-model", "embedlab export bert-base-uncased?pooling=mean bert-mean")


@common("data", "runs", "output")
def export(
    model: ModelName,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that is not there yet, or empty.", readable=False)],
    *,
    terminal: Terminal,
) -> None:
    """Write MODEL into DIR with its tokenizer, pooling and card."""
    from embedlab.workflows.models import one_member, resolve_model

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{str(folder)!r} is there already", hint="name a new folder")
    spec = one_member(resolve_model(model, terminal))
    if spec.parts:
        raise UsageError(f"{model!r} is not a transformer but a combination of {len(spec.parts)}", hint=f"export one: {spec.parts[0].name}")

    import torch

    from embedlab.encoders.checkpoint import save_model
    from embedlab.encoders.device import Machine
    from embedlab.encoders.loading import load_trainable
    from embedlab.evaluation.training_text import store_lineage

    encoder = load_trainable(spec, Machine(device=torch.device("cpu"), precision="float32", threads=1), offline=terminal.settings.offline)
    card = Path(spec.location) / "README.md"
    save_model(
        folder,
        encoder,
        card=card.read_text(encoding="utf-8") if card.is_file() else f"# {model}\n\nExported by embedlab.\n",
        add=lambda place: store_lineage(spec, place, terminal.settings),
        hint="name another DIR",
        is_new=True,
    )
    pooling = str(encoder.facts.pooling)
    terminal.done(f"{model} with pooling {pooling} is in {folder}", folder=str(folder), model=model, pooling=pooling)
