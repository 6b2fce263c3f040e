"""`embedlab nearest`: the sentences of a file that a model finds closest to one."""

from pathlib import Path
from typing import Annotated

import typer

from embedlab.cli.models import load_members, model_option, resolve_model
from embedlab.cli.notes import marked, model_marks, model_notes, sample_note
from embedlab.cli.options import common, examples
from embedlab.cli.output import Terminal
from embedlab.cli.sentence_file import sentences
from embedlab.errors import MissingError

EXAMPLES = examples(
    'embedlab nearest "A dog runs." captions.txt --model snli-supcl --top 5',
    'embedlab nearest "A dog runs." pairs.tsv --column sentence1 --model dice --json',
)


@common("data", "runs", "machine", "output")
def nearest(
    sentence: Annotated[str, typer.Argument(help="The sentence to compare with.")],
    file: Annotated[Path, typer.Argument(help="Text with one sentence a line, or a .tsv, .csv or .jsonl file.")],
    model: Annotated[str, model_option(several=False)],
    column: Annotated[str | None, typer.Option("--column", help="Column of a .tsv, .csv or .jsonl file. [default: sentence]")] = None,
    top: Annotated[int, typer.Option("--top", metavar="K", min=1, help="How many to show.")] = 10,
    *,
    terminal: Terminal,
) -> None:
    """Print the sentences of FILE closest to SENTENCE, each different one once; seeds of a run are averaged."""
    import numpy as np

    from embedlab.reports.tables import Column, Table

    places: dict[str, int] = {}
    for number, text in enumerate(sentences(file, column), start=1):
        if text.strip():
            places.setdefault(text, number)
    if not places:
        raise MissingError(f"{file} holds no sentence", hint="give a file with one sentence a line")
    candidates = list(places)
    found = resolve_model(model, terminal)
    with terminal.progress(f"scoring {len(candidates)} sentences") as tick:
        members = load_members(found, terminal, cached=True)
        similarity = np.mean([member.score([sentence] * len(candidates), candidates, tick) for member in members], axis=0)
    for text in dict.fromkeys(f"{member.name}: {text}" for member in members for text in member.facts.notes):
        terminal.note(text)
    rows = [
        {"rank": rank, "similarity": float(similarity[place]), "row": places[candidates[place]], "sentence": candidates[place]}
        for rank, place in enumerate(np.argsort(-similarity, kind="stable")[:top], start=1)
    ]
    columns = (
        Column(key="rank", title="rank"),
        Column(key="similarity", title="similarity", digits=4),
        Column(key="row", title="row"),
        Column(key="sentence", title="sentence", is_prose=True),
    )
    marks = model_marks([found])
    title, notes = marked(f"Nearest to {sentence!r} by {model}", marks), [*sample_note(marks), *model_notes(found, members)]
    terminal.show(Table(title=title, columns=columns, rows=rows, notes=notes))
