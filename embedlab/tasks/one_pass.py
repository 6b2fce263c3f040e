"""One pass over the sentences of several tasks: each is encoded once, into the cache from which the tasks then read their own."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from embedlab import __version__
from embedlab.data.dataset import State
from embedlab.encoders.catalog import ModelSpec
from embedlab.encoders.encoder import Watch
from embedlab.errors import MissingError
from embedlab.runs.evaluations import Evaluation
from embedlab.settings import Settings


@dataclass(frozen=True, kw_only=True, eq=False)
class Texts:
    """What a task reads."""

    columns: tuple[Sequence[str], ...]
    states: tuple[State, ...]
    missing: tuple[MissingError, ...] = ()  # what could not be read


def encode_once(spec: ModelSpec, texts: Sequence[Texts], settings: Settings, watches: Callable[[str], Watch]) -> None:
    """Put the vectors of all TEXTS into the cache, for each transformer in SPEC; nothing where no cache is kept."""
    sentences = [sentence for one in texts for column in one.columns for sentence in column]
    if not sentences or settings.cache_gib == 0:
        return

    # Only here is torch needed: an evaluation that is kept as a whole is shown without.
    from embedlab.encoders.device import machine
    from embedlab.encoders.loading import load_cached

    for part in _transformers(spec):
        encoder = load_cached(part, machine(settings), settings.cache, settings.cache_gib, offline=settings.offline)
        encoder.keep(sentences, watches("sentences"))


def kept_evaluation(folder: Path, name: str, model: str, fingerprint: str, texts: Texts) -> Evaluation | None:
    """The evaluation that is kept under NAME in a member's FOLDER, if this embedlab made it of the same vectors on the same data.

    Equal vectors may be those of a run and of a copy of its folder: what they have learnt from, and so the marks, goes by MODEL.
    """
    try:
        kept = Evaluation.load(folder / f"{name}.json")
    except MissingError:
        return None
    data = [plain_state(state) for state in texts.states]
    is_same_data = len(kept.data) == len(data) and all(dict(part) in data for part in kept.data)
    is_same = is_same_data and (kept.model, kept.fingerprint, kept.embedlab) == (model, fingerprint, __version__)
    return kept if is_same else None


def plain_state(state: State) -> Any:
    """A state as an evaluation's file has it."""
    return json.loads(json.dumps(asdict(state), default=str))


def _transformers(spec: ModelSpec) -> Iterator[ModelSpec]:
    if spec.kind in ("run", "folder", "hub"):
        yield spec
    for part in spec.parts:
        yield from _transformers(part)
