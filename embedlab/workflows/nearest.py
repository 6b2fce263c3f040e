"""A typed sentence, and the sentences of a file or of the datasets that models find closest to
it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.names import DEFAULT_TASK
from embedlab.core.progress import ProgressCallback
from embedlab.data.pair_parts import open_parts
from embedlab.data.source import Source
from embedlab.data.table_file import sentences
from embedlab.encoders.cached_encoder import CachedEncoder
from embedlab.encoders.encoder import PairScorer
from embedlab.models.catalog import Model
from embedlab.reports.notes import generated_note, model_marks, model_notes, with_marks
from embedlab.reports.tables import Column, Table, Value
from embedlab.tasks.task import task
from embedlab.workflows.models import load_members, resolve_models
from embedlab.workflows.options.sentences import NearestOptions
from embedlab.workflows.sentences import refuse_blank
from embedlab.workflows.session import Session

Row = dict[str, Value]

_MODEL = Column(key="model", title="model")
_PLACES = {"row": Column(key="row", title="row"), "dataset": Column(key="dataset", title="dataset")}


@dataclass(frozen=True, kw_only=True)
class _Searched:
    """The sentences that are searched, and where each of them is first: a row of the file, or a
    dataset.
    """

    sentences: Sequence[str]
    kind: str  # "row" or "dataset"
    places: Sequence[int | str]


def nearest_table(options: NearestOptions, session: Session) -> Table:
    """Return the sentences that each model scores as most similar, each different sentence once."""
    if options.column is not None and options.file is None:
        raise UsageError(
            f"--column is {options.column!r}, and no FILE is named",
            hint="name the file that has this column",
        )
    refuse_blank([options.sentence])
    searched = (
        _file(options.file, options.column) if options.file is not None else _datasets(session)
    )
    models = resolve_models(dict.fromkeys(options.models), session)
    rows: list[Row] = []
    notes: list[str] = []
    for model in models:
        ranked, own_notes = _ranked(model, options, searched, session)
        rows += ranked
        notes += own_notes
    marks = model_marks(models)
    columns = (
        *([_MODEL] if len(models) > 1 else []),  # JSON names the model in any case
        Column(key="rank", title="rank"),
        Column(key="similarity", title="similarity", digits=4),
        _PLACES[searched.kind],
        Column(key="sentence", title="sentence", role="sentence"),
    )
    return Table(
        title=with_marks(
            f"Nearest to {options.sentence!r} by {', '.join(dict.fromkeys(options.models))}", marks
        ),
        columns=columns,
        rows=rows,
        frame=pl.DataFrame(rows),
        notes=[*generated_note(marks), *notes],
    )


def _file(file: Path, column: str | None) -> _Searched:
    """The sentences of a file with their first rows."""
    places: dict[str, int] = {}
    for number, text in enumerate(sentences(file, column), start=1):
        if text.strip():
            places.setdefault(text, number)
    if not places:
        raise MissingError(f"{file} holds no sentence", hint="give a file with one sentence a line")
    return _Searched(sentences=list(places), kind="row", places=list(places.values()))


def _datasets(session: Session) -> _Searched:
    """The sentences of the test splits of the STS datasets that are available."""
    source = Source.from_settings(session.settings)
    parts, missing = open_parts(source, source.suite(task(DEFAULT_TASK).datasets))
    for error in missing:
        session.report(error)
    places: dict[str, str] = {}
    for part in parts:
        for column in ("sentence1", "sentence2"):
            for text in part.frame[column]:
                if text.strip():
                    places.setdefault(text, part.state.name)
    return _Searched(sentences=list(places), kind="dataset", places=list(places.values()))


def _ranked(
    model: Model, options: NearestOptions, searched: _Searched, session: Session
) -> tuple[list[Row], list[str]]:
    """The most similar sentences of one model, each with its place, and how the model was used."""
    sentences = searched.sentences
    with session.progress(f"scoring {len(sentences)} sentences") as tick:
        members = load_members(model, session, cached=True)
        scores = np.mean([_scores(each, options, sentences, tick) for each in members], axis=0)
    compared = np.flatnonzero(~np.isnan(scores))
    closest = compared[np.argsort(-scores[compared], kind="stable")][: options.top]
    for text in dict.fromkeys(
        f"{member.name}: {text}" for member in members for text in member.facts.notes
    ):
        session.note(text)
    if len(compared) < len(sentences):
        session.note(
            f"{model.name}: {len(compared)} of {len(sentences)} sentences have a "
            f"cached vector; the others are not searched"
        )
    rows: list[Row] = [
        {
            "model": model.name,
            "rank": rank,
            "similarity": float(scores[number]),
            searched.kind: searched.places[number],
            "sentence": sentences[number],
        }
        for rank, number in enumerate(closest.tolist(), start=1)
    ]
    return rows, model_notes(model, members)


def _scores(
    member: PairScorer, options: NearestOptions, sentences: Sequence[str], tick: ProgressCallback
) -> NDArray[np.float32]:
    """Return the similarity of the query and each of SENTENCES, nan for those of datasets whose
    vector is not cached; (sentences,).
    """
    query = [options.sentence]
    if options.file is not None or not isinstance(member, CachedEncoder):
        return member.score(query * len(sentences), sentences, tick)
    is_known = member.knows(sentences)
    if not is_known.any():
        raise MissingError(
            f"no vectors of {member.name!r} are cached for the sentences of the datasets",
            hint=f"`embedlab evaluate {member.name}` caches them, or name a FILE to search",
        )
    known = [text for text, has in zip(sentences, is_known, strict=True) if has]
    scores = np.full(len(sentences), np.nan, np.float32)
    scores[is_known] = member.score(query * len(known), known, tick)
    return scores
