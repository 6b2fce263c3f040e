"""`embedlab nearest`: the sentences of a file that a model finds closest to one."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from embedlab.cli.models import model_option
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import MissingError
from embedlab.data.sentence_file import sentences
from embedlab.reports.notes import model_marks, model_notes, sample_note, with_marks

if TYPE_CHECKING:
    from embedlab.models.catalog import Model
    from embedlab.reports.tables import Value

    Row = dict[str, Value]

EXAMPLES = examples(
    'embedlab nearest "A dog runs." captions.txt --model snli-supcl --top 5',
    'embedlab nearest "A dog runs." pairs.tsv --column sentence1 --model dice --model sbert --json',
)


@common("data", "runs", "machine", "output")
def nearest(
    sentence: Annotated[str, typer.Argument(help="The sentence to compare with.")],
    file: Annotated[Path, typer.Argument(help="Text with one sentence a line, or a .tsv, .csv or .jsonl file.", readable=False)],
    model: Annotated[list[str], model_option(several=True)],
    column: Annotated[str | None, typer.Option("--column", help="Column of a .tsv, .csv or .jsonl file. [default: sentence]")] = None,
    top: Annotated[int, typer.Option("--top", metavar="K", min=1, help="How many to show.")] = 10,
    *,
    terminal: Terminal,
) -> None:
    """Print the sentences of FILE closest to SENTENCE, each different one once, for each model; seeds of a run are averaged."""
    from embedlab.reports.tables import Column, Table
    from embedlab.workflows.models import resolve_model

    places: dict[str, int] = {}
    for number, text in enumerate(sentences(file, column), start=1):
        if text.strip():
            places.setdefault(text, number)
    if not places:
        raise MissingError(f"{file} holds no sentence", hint="give a file with one sentence a line")
    models = [resolve_model(name, terminal) for name in dict.fromkeys(model)]
    rows: list[Row] = []
    used: list[str] = []
    for found in models:
        ranked, notes = _ranked(found, sentence, places, top, terminal)
        # With one model the rows are what they always were.
        rows += [{"model": found.name, **row} for row in ranked] if len(models) > 1 else ranked
        used += notes
    columns = (
        *([Column(key="model", title="model")] if len(models) > 1 else ()),
        Column(key="rank", title="rank"),
        Column(key="similarity", title="similarity", digits=4),
        Column(key="row", title="row"),
        Column(key="sentence", title="sentence", is_prose=True),
    )
    marks = model_marks(models)
    title = with_marks(f"Nearest to {sentence!r} by {', '.join(dict.fromkeys(model))}", marks)
    terminal.show(Table(title=title, columns=columns, rows=rows, notes=[*sample_note(marks), *used]))


def _ranked(found: "Model", sentence: str, places: "Mapping[str, int]", top: int, terminal: Terminal) -> "tuple[list[Row], list[str]]":
    """The closest of the sentences in PLACES to a model, each with its row in the file, and how the model was used."""
    import numpy as np

    from embedlab.workflows.models import load_members

    candidates = list(places)
    with terminal.progress(f"scoring {len(candidates)} sentences") as tick:
        members = load_members(found, terminal, cached=True)
        similarity = np.mean([member.score([sentence] * len(candidates), candidates, tick) for member in members], axis=0)
    for text in dict.fromkeys(f"{member.name}: {text}" for member in members for text in member.facts.notes):
        terminal.note(text)
    rows: list[Row] = [
        {"rank": rank, "similarity": float(similarity[place]), "row": places[candidates[place]], "sentence": candidates[place]}
        for rank, place in enumerate(np.argsort(-similarity, kind="stable")[:top], start=1)
    ]
    return rows, model_notes(found, members)
