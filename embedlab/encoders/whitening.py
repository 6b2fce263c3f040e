"""Whitening: vectors with mean 0, variance 1 and no correlations, by the mean and covariance of
some vectors.

Su et al. 2021, "Whitening Sentence Representations for Better Semantics and Faster Retrieval". The
components are principal axes in order of their variance (the covariance divides by n − 1), each
with its largest weight positive.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.core.array_files import read_npy
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.frame_files import read_foreign_parquet
from embedlab.encoders.encoder import Vectors

# An axis with a smaller share of the largest variance is rounding of float32 numbers, and has no
# direction.
LEAST_VARIANCE = 1e-10


@dataclass(frozen=True, kw_only=True, eq=False)
class Whitening:
    """A mean to subtract and a matrix to multiply by."""

    mean: NDArray[np.float64]  # (width,)
    matrix: NDArray[np.float64]  # (width, dim)
    fitted_on: int  # vectors

    def apply(self, vectors: Vectors) -> Vectors:
        """Return whitened vectors; (n, width) in, (n, dim) out."""
        whitened: Vectors = ((vectors - self.mean) @ self.matrix).astype(np.float32)
        return whitened


def fit_whitening(vectors: Vectors, dim: int | None = None) -> Whitening:
    """Return the whitening of VECTORS, (n, width), to their first DIM components.

    Components without variance are zero. With no more vectors than components all pairs would be
    equally far apart: a UsageError.
    """
    count, width = vectors.shape
    size = dim or width
    if size > width:
        raise UsageError(
            f"vectors have {width} numbers, fewer than {size}", hint=f"give @dim={width} or less"
        )
    if count <= size:
        raise UsageError(
            f"{count} different sentences are too few to whiten vectors of {size} numbers",
            hint=f"give @whiten=FILE with more sentences, or fewer numbers: "
            f"@dim={max(1, count // 10)}",
        )
    exact = vectors.astype(np.float64)
    mean = exact.mean(axis=0)
    centred = exact - mean
    variances, axes = np.linalg.eigh(centred.T @ centred / (count - 1))
    variances, axes = variances[::-1][:size], axes[:, ::-1][:, :size]
    has_variance = variances > LEAST_VARIANCE * max(float(variances[0]), np.finfo(np.float64).tiny)
    scales = np.divide(1, np.sqrt(variances.clip(min=0)), out=np.zeros(size), where=has_variance)
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(size)])
    return Whitening(mean=mean, matrix=axes * (signs * scales), fitted_on=count)


def read_vectors(path: Path) -> Vectors | None:
    """Return the vectors of a .npy or .parquet file, (n, width) float32; None for another file,
    which has sentences.
    """
    if path.suffix not in {".npy", ".parquet"}:
        return None
    try:
        content = (
            read_npy(path)
            if path.suffix == ".npy"
            else np.array(read_foreign_parquet(path)["vector"].to_list())
        )
        vectors: Vectors = np.asarray(content, np.float32)
    except (OSError, ValueError, TypeError, pl.exceptions.PolarsError) as error:
        raise MissingError(
            f"{path}: {' '.join(str(error).split())[:200]}",
            hint="`embedlab encode` writes files of vectors",
        ) from error
    if vectors.ndim != 2 or not np.isfinite(vectors).all():
        raise MissingError(
            f"{path}: an array of shape {vectors.shape}, or with numbers that are not finite",
            hint="give (n, width) numbers",
        )
    return vectors
