"""`embedlab score`: how similar two sentences are, to each of some models."""

from typing import TYPE_CHECKING, Annotated

import typer

from embedlab.cli.models import model_option
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.reports.notes import model_marks, model_notes, sample_note, with_marks

if TYPE_CHECKING:
    from embedlab.reports.tables import Value

EXAMPLES = examples(
    'embedlab score "A man plays a guitar." "Someone is making music." --model dice --model snli-supcl',
    'embedlab score "It rains." "It does not rain." --model average:sbert,defsent --json',
)


@common("data", "runs", "machine", "output")
def score(
    first: Annotated[str, typer.Argument(help="A sentence.")],
    second: Annotated[str, typer.Argument(help="Another sentence.")],
    model: Annotated[list[str], model_option(several=True)],
    *,
    terminal: Terminal,
) -> None:
    """Print the similarity of two sentences, one row a model; a run with several seeds shows their mean and spread."""
    import numpy as np

    from embedlab.reports.tables import Column, Table
    from embedlab.workflows.models import load_members, resolve_model

    rows: list[dict[str, Value]] = []
    notes: list[str] = []
    models = [resolve_model(name, terminal) for name in model]
    for name, found in zip(model, models, strict=True):
        members = load_members(found, terminal, cached=False)
        similarities = [float(member.score([first], [second])[0]) for member in members]
        for text in dict.fromkeys(f"{name}: {text}" for member in members for text in member.facts.notes):
            terminal.note(text)
        notes += model_notes(found, members)
        spread = float(np.std(similarities, ddof=1)) if len(similarities) > 1 else None
        rows.append({"model": name, "similarity": float(np.mean(similarities)), "sd": spread, "seeds": len(similarities)})
    columns = (
        Column(key="model", title="model"),
        Column(key="similarity", title="similarity", digits=4),
        Column(key="sd", title="sd over seeds", digits=4),
        Column(key="seeds", title="seeds"),
    )
    marks = model_marks(models)
    terminal.show(Table(title=with_marks(f"{first} / {second}", marks), columns=columns, rows=rows, notes=[*sample_note(marks), *notes]))
