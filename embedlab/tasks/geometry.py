"""The task `geometry`: how an encoder's vectors are distributed in their space, independent of any
labels.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.choices import TableScale
from embedlab.core.session import StartProgress
from embedlab.core.settings import Settings
from embedlab.data.dataset import Part
from embedlab.data.source import Source, open_parts
from embedlab.encoders.encoder import (
    Encoder,
    Vectors,
    cosines,
    distinct_texts,
    mean_cosine,
    unit_vectors,
)
from embedlab.models.catalog import ModelSpec
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.outcomes import SENTENCES
from embedlab.tasks.sts import STS_DATASETS
from embedlab.tasks.sts import TASK as STS
from embedlab.tasks.task import (
    Selection,
    Task,
    TaskResult,
    Texts,
    evaluation_of,
    load_member,
    score,
)

CLOSE_GOLD = 4.0  # pairs above it count as positive ones (SimCSE, section 7)
NEIGHBOURS = 10  # k of the k-occurrence (Radovanović 2010)

_ROWS_AT_ONCE = 1_024


def measure_geometry(
    vectors: Vectors, first: NDArray[np.intp], second: NDArray[np.intp], is_close: NDArray[np.bool_]
) -> dict[str, float]:
    """Return the geometry of distinct sentences' VECTORS (sentences, dim) and of pairs of them, by
    measure; nan where the set is too small for one. IS_CLOSE marks the positive pairs.
    """
    similarities = cosines(vectors[first], vectors[second])
    return {
        "average cosine": float(np.mean(similarities)) if len(first) else float("nan"),
        # of the close pairs, 0 = equal vectors
        "alignment": alignment(vectors[first[is_close]], vectors[second[is_close]]),
        "uniformity": uniformity(vectors),  # of the sentences, lower = more even
        # of two random different sentences: 0 in an isotropic space
        "mean cosine": mean_cosine(vectors),
        "effective rank": effective_rank(vectors),  # 1 … dim
        "first axis": float(spectrum(vectors)[0]),  # its share of the variance, 0–1
        # skewness of how often a sentence is among the nearest of others, 0 = no hubs
        "hubness": hubness(vectors),
    }


def alignment(first: Vectors, second: Vectors) -> float:
    """Mean squared distance of positive pairs on the unit sphere (Wang & Isola 2020, α = 2); nan
    without pairs.
    """
    if not len(first):
        return float("nan")
    return float(((unit_vectors(first) - unit_vectors(second)) ** 2).sum(1).mean())


def uniformity(vectors: Vectors) -> float:
    """Log of the mean Gaussian potential of two different vectors on the unit sphere (Wang & Isola
    2020, t = 2).
    """
    count = len(vectors)
    if count < 2:
        return float("nan")
    unit = unit_vectors(vectors).astype(np.float32)
    squares = (unit**2).sum(1)  # 1, or 0 for a zero vector
    total = 0.0
    for start, potentials in _similarities(unit):
        # exp(−2·|u−v|²) = exp(4·u·v − 2·|u|² − 2·|v|²)
        potentials *= 4
        potentials -= 2 * squares
        potentials -= 2 * squares[start : start + len(potentials), None]
        np.exp(potentials, out=potentials)
        total += float(potentials.sum(dtype=np.float64))
    return float(np.log(max(total, np.finfo(np.float64).tiny) / (count * (count - 1))))


def _similarities(unit: Vectors) -> Iterator[tuple[int, Vectors]]:
    """Yield the similarities of some UNIT vectors with all, −inf of each with itself, and the
    number of the first.
    """
    for start in range(0, len(unit), _ROWS_AT_ONCE):
        similarities = unit[start : start + _ROWS_AT_ONCE] @ unit.T
        np.fill_diagonal(similarities[:, start:], -np.inf)
        yield start, similarities


def spectrum(vectors: Vectors) -> NDArray[np.float64]:
    """Each principal axis' share of the variance, largest first; (dim,)."""
    variances = _singular_values(vectors) ** 2
    return _shares(variances)


def effective_rank(vectors: Vectors) -> float:
    """Exponential of the entropy of the normalised singular values of the centred vectors (Roy &
    Vetterli 2007).
    """
    shares = _shares(_singular_values(vectors))
    positive = shares[shares > 0]
    return float(np.exp(-(positive * np.log(positive)).sum())) if len(positive) else float("nan")


def hubness(vectors: Vectors) -> float:
    """Skewness of the k-occurrence: how often each vector is among the NEIGHBOURS nearest by cosine
    of the others.
    """
    if len(vectors) <= NEIGHBOURS:
        return float("nan")
    counts = occurrences(vectors, NEIGHBOURS).astype(np.float64)
    spread = counts.std()
    return float(((counts - counts.mean()) ** 3).mean() / spread**3) if spread else 0.0


def occurrences(vectors: Vectors, neighbours: int) -> NDArray[np.intp]:
    """How many other vectors have each vector among their NEIGHBOURS nearest."""
    counts = np.zeros(len(vectors), np.intp)
    for _, similarities in _similarities(unit_vectors(vectors).astype(np.float32)):
        nearest = np.argpartition(-similarities, neighbours - 1, axis=1)[:, :neighbours]
        counts += np.bincount(nearest.ravel(), minlength=len(counts))
    return counts


def evaluate_geometry(
    encoder: Encoder, parts: Sequence[Part], *, progress: StartProgress | None = None
) -> Evaluation:
    """The geometry of each part's pairs (sentence1, sentence2, gold); all sentences are encoded
    together, each once.
    """
    columns = [part.frame[side] for part in parts for side in SENTENCES]
    sentences, index = distinct_texts(list(chain(*columns)))
    report = progress("sentences") if progress else None
    vectors, is_accepted = encoder.encode_accepted(sentences, report)
    scores: list[StoredScore] = []
    notes: list[str] = []
    end = 0
    for part in parts:
        start, end = end, end + 2 * part.frame.height
        sides = index[start:end].reshape(2, -1)  # (sides, pairs)
        is_readable = is_accepted[sides].all(axis=0)
        readable_part = replace(part, frame=part.frame.filter(pl.Series(is_readable)))
        if is_readable.any():
            scores += _scores(readable_part, vectors, sides[:, is_readable])
        if unread := part.frame.height - readable_part.frame.height:
            name, pairs = part.state.name, part.frame.height
            notes.append(f"{name}: {unread} of {pairs} pairs left out, without a vector")
    return evaluation_of("geometry", encoder, [part.state for part in parts], scores, notes)


def _scores(part: Part, vectors: Vectors, sides: NDArray[np.intp]) -> Iterator[StoredScore]:
    """Yield each measure of the pairs of PART, of which SIDES, (2, pairs), are vectors."""
    used, inverse = np.unique(sides, return_inverse=True)
    is_close = part.frame["gold"].to_numpy() > CLOSE_GOLD
    first, second = inverse.reshape(2, -1)
    geometry = measure_geometry(vectors[used], first, second, is_close)
    items = {"average cosine": part.frame.height, "alignment": int(is_close.sum())}
    settings = {"alignment": f"gold > {CLOSE_GOLD:g}", "hubness": f"{NEIGHBOURS} neighbours"}
    for metric, value in geometry.items():
        count, setting = items.get(metric, len(used)), settings.get(metric, "")
        yield score(part.state.name, metric, value, count, part.state.split, setting=setting)


def _singular_values(vectors: Vectors) -> NDArray[np.float64]:
    """Return the singular values of the centred vectors, largest first, computed from the smaller
    Gram matrix.
    """
    centred = vectors.astype(np.float64)
    centred -= centred.mean(0)
    gram = centred.T @ centred if len(centred) > centred.shape[1] else centred @ centred.T
    values: NDArray[np.float64] = np.sqrt(np.linalg.eigvalsh(gram)[::-1].clip(0))
    return values


def _shares(values: NDArray[np.float64]) -> NDArray[np.float64]:
    total = values.sum()
    return values / total if total else np.zeros_like(values)


class GeometryTask(Task):
    """The geometry of the vectors of every available STS dataset."""

    name = "geometry"
    summary = (
        "alignment, uniformity, anisotropy, effective rank, average cosine and hubness on "
        "the sentences of STS datasets"
    )
    has_items = False

    def texts(self, source: Source, selection: Selection) -> Texts:
        """Return the sentences of the STS datasets."""
        texts = STS.texts(source, Selection())
        return replace(texts, datasets=(), notes=(), is_encoded_at_once=False)

    def evaluate(
        self,
        spec: ModelSpec,
        settings: Settings,
        start_progress: StartProgress,
        selection: Selection,
    ) -> TaskResult:
        """Measure the vectors of each dataset."""
        source = Source.from_settings(settings)
        parts, missing_errors = open_parts(source, source.suite(STS_DATASETS))
        encoder, _ = load_member(spec, settings)
        evaluation = evaluate_geometry(encoder, parts, progress=start_progress)
        return TaskResult(evaluation=evaluation, missing=tuple(missing_errors), tested=tuple(parts))

    def scale_of(self, metric: str) -> TableScale:
        """Return 1: none is a share, and of some less is better."""
        return 1


TASK = GeometryTask()
