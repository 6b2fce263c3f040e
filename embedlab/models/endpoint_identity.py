"""Which model answers at an address: a server may put another one behind the same name.

A record in the state folder holds the vectors of three fixed sentences for each model that answered
there. The first has no identity of its own, so that what was cached before stays valid; each later
one has, and it is a part of the fingerprint.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, replace
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


def endpoint_identity(address: str) -> str:
    """Return the identity of the model that answered last at ADDRESS; empty for the first one."""
    return _read(address).current


def record_model(address: str, vectors: NDArray[np.float32]) -> str | None:
    """Record which model answers at ADDRESS, by its VECTORS of SENTENCES, and return a note if
    another model answered last.
    """
    record = _read(address)
    cosines = {entry.identity: lowest_cosine(entry.vectors, vectors) for entry in record.known}
    matching = [identity for identity, cosine in cosines.items() if (cosine or 0) >= LOWEST_COSINE]
    if record.current in matching:
        return None
    if matching:
        identity = matching[0]
        verdict = "the model that answered there at an earlier time"
    else:
        digest = hashlib.sha256(np.ascontiguousarray(vectors, np.float32).tobytes()).hexdigest()
        identity = digest[:12] if record.known else ""
        verdict = "a new model, and its earlier vectors and results are not used"
        model = RecordedModel(
            identity=identity, vectors=tuple(tuple(row) for row in vectors.tolist())
        )
        record = replace(record, known=(*record.known, model))
    write_json(_file(address), asdict(replace(record, current=identity)), indent=1)
    if record.current not in cosines:
        return None
    cosine = cosines[record.current]
    difference = "have another length"
    if cosine is not None:
        difference = f"have a cosine of {cosine:.3f} to the earlier ones, below {LOWEST_COSINE}"
    return (
        f"{address}: its vectors of three fixed sentences {difference}: embedlab takes it for "
        f"{verdict}"
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
