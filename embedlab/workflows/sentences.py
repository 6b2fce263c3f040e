"""Typed sentences scored by models: two against each other, or one against those of a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from embedlab.core.errors import MissingError
from embedlab.data.sentence_file import sentences
from embedlab.models.catalog import Model
from embedlab.reports.notes import model_marks, model_notes, sample_note, with_marks
from embedlab.reports.tables import Column, Table, Value
from embedlab.workflows.models import load_members, resolve_model
from embedlab.workflows.session import Session

Row = dict[str, Value]

SCORED = (
    Column(key="model", title="model"),
    Column(key="similarity", title="similarity", digits=4),
    Column(key="sd", title="sd over seeds", digits=4),
    Column(key="seeds", title="seeds"),
)
RANKED = (
    Column(key="model", title="model"),
    Column(key="rank", title="rank"),
    Column(key="similarity", title="similarity", digits=4),
    Column(key="row", title="row"),
    Column(key="sentence", title="sentence", role="sentence"),
)


@dataclass(frozen=True, kw_only=True)
class NearestOptions:
    """A sentence, the file to search, and the models that search it."""

    sentence: str
    file: Path
    models: Sequence[str]
    column: str | None = None  # of a .tsv, .csv or .jsonl file; None: sentence
    top: int = 10


def similarity_table(first: str, second: str, names: Sequence[str], session: Session) -> Table:
    """Return the similarity of two sentences, one row a model: the mean and the spread over its seeds."""
    rows: list[Row] = []
    notes: list[str] = []
    models = [resolve_model(name, session) for name in names]
    for name, model in zip(names, models, strict=True):
        members = load_members(model, session, cached=False)
        similarities = [float(member.score([first], [second])[0]) for member in members]
        for text in dict.fromkeys(f"{name}: {text}" for member in members for text in member.facts.notes):
            session.note(text)
        notes += model_notes(model, members)
        spread = float(np.std(similarities, ddof=1)) if len(similarities) > 1 else None
        rows.append({"model": name, "similarity": float(np.mean(similarities)), "sd": spread, "seeds": len(similarities)})
    marks = model_marks(models)
    return Table(title=with_marks(f"{first} / {second}", marks), columns=SCORED, rows=rows, notes=[*sample_note(marks), *notes])


def nearest_table(options: NearestOptions, session: Session) -> Table:
    """Return the sentences of a file that each model scores as most similar, each different sentence once."""
    places: dict[str, int] = {}
    for number, text in enumerate(sentences(options.file, options.column), start=1):
        if text.strip():
            places.setdefault(text, number)
    if not places:
        raise MissingError(f"{options.file} holds no sentence", hint="give a file with one sentence a line")
    models = [resolve_model(name, session) for name in dict.fromkeys(options.models)]
    rows: list[Row] = []
    notes: list[str] = []
    for model in models:
        ranked, own_notes = _ranked(model, options, places, session)
        rows += ranked
        notes += own_notes
    marks = model_marks(models)
    return Table(
        title=with_marks(f"Nearest to {options.sentence!r} by {', '.join(dict.fromkeys(options.models))}", marks),
        columns=RANKED if len(models) > 1 else RANKED[1:],  # JSON names the model in any case
        rows=rows,
        frame=pl.DataFrame(rows),
        notes=[*sample_note(marks), *notes],
    )


def _ranked(model: Model, options: NearestOptions, places: Mapping[str, int], session: Session) -> tuple[list[Row], list[str]]:
    """The most similar of the sentences in PLACES, each with its row in the file, and how the model was used."""
    candidates = list(places)
    with session.progress(f"scoring {len(candidates)} sentences") as tick:
        members = load_members(model, session, cached=True)
        similarity = np.mean([member.score([options.sentence] * len(candidates), candidates, tick) for member in members], axis=0)
    for text in dict.fromkeys(f"{member.name}: {text}" for member in members for text in member.facts.notes):
        session.note(text)
    order = np.argsort(-similarity, kind="stable")[: options.top]
    rows: list[Row] = [
        {
            "model": model.name,
            "rank": rank,
            "similarity": float(similarity[place]),
            "row": places[candidates[place]],
            "sentence": candidates[place],
        }
        for rank, place in enumerate(order, start=1)
    ]
    return rows, model_notes(model, members)
