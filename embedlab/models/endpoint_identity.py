"""Which model answers at an address: a server may put another one behind the same name.

A record in the state folder holds the vectors of three fixed sentences for each model that answered
there. The first has no identity of its own, so that what was cached before stays valid; each later
one has, and it is a part of the fingerprint.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embedlab.core.disk import as_reading_errors, read_sealed_json, write_json
from embedlab.core.paths import state_folder
from embedlab.core.schema import build, table

SENTENCES = (
    "A man is playing a guitar on the stage.",
    "The stock market fell sharply today.",
    "Wo ist der nächste Bahnhof?",
)
LOWEST_COSINE = 0.999  # of one model with itself: its numbers differ by its batches and devices
_REMADE = "remove it: the next use of the address starts a new one"


@table
class RecordedModel:
    """A model that answered at an address, and its vectors of SENTENCES."""

    identity: str
    vectors: tuple[tuple[float, ...], ...]


@table
class EndpointRecord:
    """The models that answered at an address; CURRENT is the identity of the one that did so
    last.
    """

    address: str
    current: str = ""
    known: tuple[RecordedModel, ...] = ()


@dataclass(frozen=True, kw_only=True)
class IdentityCheck:
    """What a comparison with the record gave: the lowest cosine to the model that answered before,
    and whether that is another one now.
    """

    cosine: float | None  # None: there was none before, or its vectors have another length
    is_changed: bool
    is_new: bool


def endpoint_identity(address: str) -> str:
    """Return the identity of the model that answered last at ADDRESS; empty for the first one."""
    return _read(address).current


def confirm_identity(address: str, vectors: NDArray[np.float32]) -> IdentityCheck:
    """Compare VECTORS, those of SENTENCES now, with those of the record, and write there which
    model answers.
    """
    record = _read(address)
    cosines = {entry: lowest_cosine(entry.vectors, vectors) for entry in record.known}
    matching = [entry for entry in record.known if (cosines[entry] or 0) >= LOWEST_COSINE]
    current_entry = next(
        (entry for entry in record.known if entry.identity == record.current), None
    )
    model = current_entry if current_entry in matching else next(iter(matching), None)
    is_new = model is None
    if model is None:
        digest = hashlib.sha256(np.ascontiguousarray(vectors, np.float32).tobytes()).hexdigest()
        model = RecordedModel(
            identity=digest[:12] if record.known else "",
            vectors=tuple(tuple(row) for row in vectors.tolist()),
        )
        record = replace(record, known=(*record.known, model))
    if is_new or model.identity != record.current:
        write_json(_file(address), asdict(replace(record, current=model.identity)), indent=1)
    return IdentityCheck(
        cosine=None if current_entry is None else cosines[current_entry],
        is_changed=current_entry is not None and current_entry is not model,
        is_new=is_new,
    )


def lowest_cosine(first: Sequence[Sequence[float]], second: NDArray[np.float32]) -> float | None:
    """Return the lowest cosine of a row with the same row; None where the vectors have other
    lengths.
    """
    a, b = np.asarray(first, np.float64), second.astype(np.float64)
    if a.shape != b.shape:
        return None
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return float(((a * b).sum(axis=1) / np.where(lengths > 0, lengths, 1)).min())


def _file(address: str) -> Path:
    key = hashlib.sha256(address.encode()).hexdigest()[:16]
    return state_folder() / "endpoints" / f"{key}.json"


def _read(address: str) -> EndpointRecord:
    path = _file(address)
    if not path.exists():
        return EndpointRecord(address=address)
    with as_reading_errors(path, hint=_REMADE):
        return build(EndpointRecord, read_sealed_json(path, hint=_REMADE), where=str(path))
