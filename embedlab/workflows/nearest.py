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
from embedlab.encoders.lexical import DiceScorer
from embedlab.models.catalog import Model
from embedlab.reports.notes import generated_note, model_marks, model_notes, with_marks
from embedlab.reports.tables import Column, Table, Value
from embedlab.tasks.task import task
from embedlab.workflows.models import load_members, resolve_models
from embedlab.workflows.neighbours import Corpus, Search, find_neighbours
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

    corpus: Corpus
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
    return _Searched(
        corpus=Corpus(sentences=list(places)), kind="row", places=list(places.values())
    )


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
                places.setdefault(text, part.state.name)
    corpus = Corpus.of(list(places))
    return _Searched(
        corpus=corpus, kind="dataset", places=[places[text] for text in corpus.sentences]
    )


def _ranked(
    model: Model, options: NearestOptions, searched: _Searched, session: Session
) -> tuple[list[Row], list[str]]:
    """The most similar sentences of one model, each with its place, and how the model was used."""
    corpus = searched.corpus
    with session.progress(f"scoring {len(corpus.sentences)} sentences") as tick:
        members = load_members(model, session, cached=True)
        searches = [_search(member, options, corpus, session, tick) for member in members]
        (closest,) = find_neighbours([options.sentence], corpus, searches, options.top)
    for text in dict.fromkeys(
        f"{member.name}: {text}" for member in members for text in member.facts.notes
    ):
        session.note(text)
    if closest.searched < len(corpus.sentences):
        session.note(
            f"{model.name}: {closest.searched} of {len(corpus.sentences)} sentences have a "
            f"cached vector; the others are not searched"
        )
    rows: list[Row] = [
        {
            "model": model.name,
            "rank": rank,
            "similarity": neighbour.similarity,
            searched.kind: searched.places[neighbour.number],
            "sentence": corpus.sentences[neighbour.number],
        }
        for rank, neighbour in enumerate(closest.found, start=1)
    ]
    return rows, model_notes(model, members)


def _search(
    member: PairScorer,
    options: NearestOptions,
    corpus: Corpus,
    session: Session,
    tick: ProgressCallback,
) -> Search:
    """The search of one member: by its cached vectors, those of a file computed first, or by its
    scores where it has none.
    """
    if isinstance(member, DiceScorer):
        return corpus.words
    if not isinstance(member, CachedEncoder):
        return _ScoreSearch(member, corpus, tick)
    member.encode([options.sentence, *(corpus.sentences if options.file is not None else ())], tick)
    search = corpus.vectors(member.fingerprint, session.settings, member.similarity)
    if options.file is not None:  # a disk that cannot be written has no vectors
        return (
            search
            if search is not None and search.is_known.all()
            else _ScoreSearch(member, corpus, tick)
        )
    if search is None or not search.is_known.any():
        raise MissingError(
            f"no vectors of {member.name!r} are cached for the sentences of the datasets",
            hint=f"`embedlab evaluate {member.name}` caches them, or name a FILE to search",
        )
    return search


class _ScoreSearch:
    """A search by any scorer of pairs: every sentence is scored with the query."""

    is_current = True

    def __init__(self, scorer: PairScorer, corpus: Corpus, tick: ProgressCallback) -> None:
        self.is_known = np.ones(len(corpus.sentences), np.bool_)
        self._scorer, self._corpus, self._tick = scorer, corpus, tick

    def approximate(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """The score of each of QUERIES with each sentence."""
        sentences = self._corpus.sentences
        return np.stack(
            [
                self._scorer.score([query] * len(sentences), sentences, self._tick)
                for query in queries
            ]
        )

    def exact(self, query: str, numbers: NDArray[np.intp]) -> NDArray[np.float32]:
        """The score of QUERY with the sentences that have these NUMBERS."""
        return self._scorer.score(
            [query] * len(numbers), [self._corpus.sentences[number] for number in numbers]
        )
