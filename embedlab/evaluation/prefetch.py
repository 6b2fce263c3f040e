"""One pass over the sentences of several tasks: each is encoded once, into the cache from which the tasks then read their own."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.progress import StartProgress
from embedlab.core.settings import Settings
from embedlab.core.version import __version__
from embedlab.data.dataset import DatasetState
from embedlab.data.source import Source
from embedlab.encoders.stored_scores import ScorePlace
from embedlab.models.catalog import ModelSpec
from embedlab.runs.evaluations import Evaluation
from embedlab.tasks.task import Texts


def encode_once(spec: ModelSpec, texts: Sequence[Texts], settings: Settings, start_progress: StartProgress) -> None:
    """Put the vectors of all TEXTS into the cache, for each transformer in SPEC; nothing where no cache is kept."""
    sentences = [sentence for one in texts for column in one.columns for sentence in column]
    if not sentences or settings.cache_gib == 0:
        return

    # Only here is torch needed: an evaluation that is kept as a whole is shown without.
    from embedlab.encoders.device import machine
    from embedlab.encoders.loading import load_cached

    for part in _transformers(spec):
        encoder = load_cached(part, machine(settings), settings.cache, settings.cache_gib, offline=settings.offline)
        encoder.store(sentences, start_progress("sentences"))


def stored_evaluation(place: ScorePlace, name: str, texts: Texts | None, source: Source) -> Evaluation | None:
    """The evaluation that is kept under NAME of a member, if this embedlab made it of the same vectors on the same data.

    TEXTS is what its task reads; of a task that does not say so before, what it read is opened in SOURCE again. Equal vectors may be
    those of a run and of a copy of its folder: what they have learnt from, and so the marks, goes by the member's name.
    """
    try:
        stored = Evaluation.load(place.evaluations / f"{name}.json")
    except MissingError:
        return None
    if (stored.model, stored.fingerprint, stored.embedlab) != (place.spec.name, place.fingerprint, __version__):
        return None
    is_all = texts is None or len(stored.data) == len(texts.states)
    return stored if is_all and is_same_data(stored.data, texts, source) else None


def is_same_data(data: Sequence[Mapping[str, object]], texts: Texts | None, source: Source) -> bool:
    """Whether what DATA tells of is still what would be read."""
    if texts is not None:
        now = [_identity(plain_state(state)) for state in texts.states]
        return all(_identity(part) in now for part in data)
    try:
        opened = ((part, source.open(str(part["name"]), str(part.get("split"))).state) for part in data)
        return all(_identity(plain_state(state)) == _identity(part) for part, state in opened)
    except EmbedlabError:  # not there any more: the task itself says so
        return False


def plain_state(state: DatasetState) -> Any:
    """A state as an evaluation's file has it."""
    return json.loads(json.dumps(asdict(state), default=str))


def _identity(part: Mapping[str, object]) -> dict[str, object]:
    """A state without what follows from its files' hashes: evaluations of before do not say that."""
    return {key: value for key, value in part.items() if key != "empty"}


def _transformers(spec: ModelSpec) -> Iterator[ModelSpec]:
    if spec.kind in ("run", "folder", "hub"):
        yield spec
    for part in spec.parts:
        yield from _transformers(part)
