"""The training text of models that embedlab did not train, as their folder or publication states
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from embedlab.core.errors import MissingError
from embedlab.core.note import Note
from embedlab.data.marks import UNKNOWN_TEXT
from embedlab.scoring.training_text import published_folder, runs_in, starting_models

if TYPE_CHECKING:
    from embedlab.models.catalog import ModelSpec

UNCOUNTED = "what it, or the encoder it started from, was trained on is at most stated"
START_UNKNOWN = Note("its starting encoder's training text is unknown", kind="detail")


@dataclass(frozen=True, kw_only=True)
class StatedText:
    """The training text of one model that no run of embedlab records."""

    is_run: bool  # trained by embedlab: this is the text of the encoder that it started from
    text: (
        tuple[str, ...] | None
    )  # empty: no training text, for example random weights; None: unknown


def stated_texts(spec: ModelSpec) -> Iterator[StatedText]:
    """Yield one for each model in SPEC that has weights; a model that only counts words has no
    training text.
    """
    if spec.parts:
        for part in spec.parts:
            yield from stated_texts(part)
    elif not spec.counts_words:
        # What an adapter was trained on is not stated by its base.
        yield StatedText(
            is_run=bool(runs_in(spec)) and spec.adapter is None,
            text=_stated(spec) if spec.adapter is None else None,
        )


def is_text_unknown(spec: ModelSpec) -> bool:
    """Return whether SPEC contains a model that embedlab did not train and that states no training
    text.
    """
    return any(origin.text is None and not origin.is_run for origin in stated_texts(spec))


def is_text_uncounted(spec: ModelSpec) -> bool:
    """Return whether SPEC contains a model that was trained on text that is at most stated, such as
    an encoder that a run of embedlab started from.
    """
    return any(origin.text is None or origin.text for origin in stated_texts(spec))


def stated_text_notes(spec: ModelSpec) -> tuple[str, ...]:
    """Return the notes on such text for the numbers of SPEC, without repeats."""
    return tuple(dict.fromkeys(note for origin in stated_texts(spec) for note in _notes(origin)))


def _notes(origin: StatedText) -> Iterator[str]:
    if origin.text is None:
        yield START_UNKNOWN if origin.is_run else Note(UNKNOWN_TEXT, kind="unknown text")
    elif origin.text:
        whose = "its starting encoder was" if origin.is_run else "says it was"
        text = f"{whose} trained on {', '.join(origin.text)}"
        yield Note(text, kind="detail" if origin.is_run else "stated text")


def _stated(spec: ModelSpec) -> tuple[str, ...] | None:
    """Return what the folder of SPEC states, else its catalog entry, else what its runs started
    from.
    """
    if Path(spec.location).is_file():  # a file has nothing beside it that states its text
        return None
    stated = _of_folder(spec)
    if stated is not None or spec.training_text is not None:
        return spec.training_text if stated is None else stated
    # An exported model also holds the runs that its own run started from: the last of them has the
    # first encoder.
    starts = [
        start for run in runs_in(spec)[-1:] for start in starting_models(run)[:1] if start != spec
    ]
    return _stated(starts[0]) if starts else None


def _of_folder(spec: ModelSpec) -> tuple[str, ...] | None:
    folder = published_folder(spec)
    if folder is None:
        return None
    from embedlab.models.folder import read_statement

    try:
        return read_statement(folder).training_text
    except MissingError:  # damaged: loading it will raise the error
        return None
