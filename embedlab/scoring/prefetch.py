"""Encode the sentences of several tasks in one pass into the cache, from which each task then reads
its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.names import code_version
from embedlab.data.source import Source
from embedlab.runs.evaluations import Evaluation
from embedlab.scoring.training_text import training_text

if TYPE_CHECKING:
    from embedlab.core.session import StartProgress
    from embedlab.core.settings import Settings
    from embedlab.data.dataset import DatasetState
    from embedlab.encoders.score_place import ScorePlace
    from embedlab.models.catalog import ModelSpec
    from embedlab.tasks.task import Texts


def encode_once(
    spec: ModelSpec, texts: Sequence[Texts], settings: Settings, start_progress: StartProgress
) -> None:
    """Put the vectors of all TEXTS into the cache, for each transformer in SPEC; does nothing
    without a cache.
    """
    sentences = [sentence for text in texts for column in text.columns for sentence in column]
    if not sentences or settings.cache_gib == 0:
        return

    # torch is imported only here: a stored evaluation is shown without it.
    from embedlab.encoders.device import machine
    from embedlab.encoders.loading import load_cached

    for transformer in _transformers(spec):
        encoder = load_cached(
            transformer,
            machine(settings),
            settings.cache,
            settings.cache_gib,
            offline=settings.offline,
        )
        encoder.store(sentences, start_progress("sentences"))


def stored_evaluation(
    place: ScorePlace, name: str, texts: Texts | None, settings: Settings
) -> Evaluation | None:
    """Return the evaluation stored under NAME for a member, if this version of embedlab made it
    from the same vectors and data.

    TEXTS is what its task reads; where that depends on the model, the data that it read is opened
    again, as SETTINGS say. What was counted of stated corpora must be what is at hand now. A run
    and a copy of its folder have equal vectors; their training text, and so their marks, depend on
    the member's name.
    """
    try:
        stored = Evaluation.load(place.evaluations / f"{name}.json")
    except MissingError:
        return None
    if (stored.model, stored.embedlab) != (
        place.spec.name,
        code_version(stored.task),
    ) or stored.fingerprint != place.fingerprint:
        return None
    if (counted := training_text(place.spec, settings).lack) and counted not in stored.notes:
        return None
    is_all = texts is None or len(stored.data) == len(texts.states)
    source = Source.from_settings(settings)
    return stored if is_all and is_same_data(stored.data, texts, source) else None


def is_same_data(data: Sequence[Mapping[str, object]], texts: Texts | None, source: Source) -> bool:
    """Return whether DATA, as an evaluation's file stores it, describes what would be read now."""
    stored = [{**part, "empty": None} for part in data]
    if texts is not None:
        now = [_stored_form(state) for state in texts.states]
        return all(part in now for part in stored)
    try:
        return all(
            _stored_form(source.open(str(part["name"]), str(part.get("split"))).state) == part
            for part in stored
        )
    except EmbedlabError:  # removed since: the task itself reports it
        return False


def _stored_form(state: DatasetState) -> dict[str, object]:
    """Return a state as an evaluation's file stores it, without what follows from its files'
    hashes: evaluations of earlier versions lack that.
    """
    return {**json.loads(json.dumps(asdict(state), default=str)), "empty": None}


def _transformers(spec: ModelSpec) -> Iterator[ModelSpec]:
    if spec.is_transformer:
        yield spec
    for part in spec.parts:
        yield from _transformers(part)
