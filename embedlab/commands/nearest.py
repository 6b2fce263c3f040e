"""`embedlab nearest`: the sentences of a file, or of the datasets, that models find closest to
one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from embedlab.commands.command import command
from embedlab.commands.options import COLUMN, NAMED_MODELS, Flag
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.names import DEFAULT_TASK
from embedlab.core.printable import count_text
from embedlab.core.session import ProgressCallback, Session
from embedlab.reports.report import Report
from embedlab.reports.tables import Table, Value, columns_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from embedlab.encoders.encoder import PairScorer


@dataclass(frozen=True, kw_only=True)
class NearestOptions:
    """A sentence, the file to search, and the models that search it."""

    sentence: Annotated[str, Flag(metavar="SENTENCE", help="The sentence to compare with.")]
    models: Annotated[Sequence[str], NAMED_MODELS]
    file: Annotated[
        Path | None,
        Flag(
            is_argument=True,
            metavar="FILE",
            help="Text with one sentence a line, or a .tsv, .csv, .jsonl or .parquet file. [default: the "
            "STS datasets]",
        ),
    ] = None
    column: Annotated[str | None, COLUMN] = None
    top: Annotated[int, Flag(metavar="K", help="How many to show.", min=1)] = 10


@command("data runs machine output")
def nearest(options: NearestOptions, session: Session) -> Report:
    """For each model, print the sentences closest to SENTENCE, without repeats; seeds of a run are
    averaged.

    Without FILE it searches the sentences of the available STS datasets, by the vectors that
    evaluations have cached.

    Examples:
        $ embedlab nearest "A dog runs." captions.txt --model snli-supcl --top 5
        $ embedlab nearest "A dog runs." --model snli-supcl --model dice
        $ embedlab nearest "A dog runs." pairs.tsv --column sentence1 --model dice --model sbert
          --json

    """
    import numpy as np
    import polars as pl

    from embedlab.evaluation import load_members, refuse_blank, resolve_models
    from embedlab.reports.notes import generated_note, model_marks, model_notes, with_marks

    if options.column is not None and options.file is None:
        raise UsageError(
            f"--column is {options.column!r}, and no FILE is named",
            hint="name the file that has this column",
        )
    refuse_blank([options.sentence])
    # where each sentence is first
    place_of_sentence = (
        _sentences_of_file(options) if options.file is not None else _sentences_of_datasets(session)
    )
    kind = "dataset" if options.file is None else "row"
    models = resolve_models(dict.fromkeys(options.models), session)
    corpus = list(place_of_sentence)
    rows: list[dict[str, Value]] = []
    notes: list[str] = []
    for model in models:
        with session.progress(f"scoring {count_text(len(corpus), 'sentences')}") as tick:
            members = load_members(model, session, cached=True)
            scores = np.mean(
                [_similarities(member, options, corpus, tick) for member in members],
                axis=0,
            )
        for member in members:
            for text in member.facts.notes:
                session.note(f"{member.name}: {text}")
        scored_count = int(np.isfinite(scores).sum())
        if scored_count < len(corpus):
            session.note(
                f"{model.name}: {scored_count} of {len(corpus)} sentences have a "
                f"similarity; the others are not searched"
            )
        closest = np.argsort(-scores, kind="stable")[: min(options.top, scored_count)]
        rows += [
            {
                "model": model.name,
                "rank": rank,
                "similarity": float(scores[number]),
                kind: place_of_sentence[corpus[number]],
                "sentence": corpus[number],
            }
            for rank, number in enumerate(closest.tolist(), start=1)
        ]
        notes += model_notes(model, members)
    marks = model_marks(models)
    column_names = ["rank", "similarity .4", kind, "sentence [sentence]"]
    # JSON names the model in any case
    columns = columns_of(*["model"] * (len(models) > 1), *column_names)
    names = ", ".join(dict.fromkeys(options.models))
    title = with_marks(f"Nearest to {options.sentence!r} by {names}", marks)
    notes = [*generated_note(marks), *notes]
    return Report.of(Table(title, columns, rows, notes, pl.DataFrame(rows)))


def _sentences_of_file(options: NearestOptions) -> dict[str, int | str]:
    """Return the sentences of the file with their first rows."""
    from embedlab.data.own_files import sentences

    row_of_sentence: dict[str, int | str] = {}
    assert options.file is not None
    for number, text in enumerate(sentences(options.file, options.column), start=1):
        if text.strip():
            row_of_sentence.setdefault(text, number)
    if not row_of_sentence:
        raise MissingError(
            f"{options.file} holds no sentence", hint="give a file with one sentence a line"
        )
    return row_of_sentence


def _sentences_of_datasets(session: Session) -> dict[str, int | str]:
    """Return the sentences of the test splits of the STS datasets that are available."""
    from embedlab.data.source import Source, open_parts
    from embedlab.tasks.task import task

    source = Source.from_settings(session.settings)
    data_parts, errors = open_parts(source, source.suite(task(DEFAULT_TASK).datasets))
    for error in errors:
        session.report(error)
    dataset_of_sentence: dict[str, int | str] = {}
    for data_part in data_parts:
        for column in ("sentence1", "sentence2"):
            for text in data_part.frame[column]:
                if text.strip():
                    dataset_of_sentence.setdefault(text, data_part.state.name)
    return dataset_of_sentence


def _similarities(
    member: PairScorer,
    options: NearestOptions,
    corpus: Sequence[str],
    tick: ProgressCallback,
) -> NDArray[np.float32]:
    """Return the similarity of each sentence of the CORPUS, nan for those of datasets whose vector
    is not cached; (sentences,).
    """
    import numpy as np

    from embedlab.encoders.vector_cache import CachedEncoder

    query = [options.sentence]
    if options.file is not None or not isinstance(member, CachedEncoder):
        return member.score(query * len(corpus), corpus, tick)
    is_known = member.knows(corpus)
    if not is_known.any():
        raise MissingError(
            f"no vectors of {member.name!r} are cached for the sentences of the datasets",
            hint=f"`embedlab evaluate {member.name}` with the same --data caches them; or name a "
            f"FILE to search",
        )
    known_texts = [text for text, is_scored in zip(corpus, is_known, strict=True) if is_scored]
    scores = np.full(len(corpus), np.nan, np.float32)
    scores[is_known] = member.score(query * len(known_texts), known_texts, tick)
    return scores
