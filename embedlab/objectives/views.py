"""Vectors of several passes over a batch's texts, row by row."""

from collections.abc import Mapping

from torch import Tensor


def views_of_rows(vectors: Tensor, columns: Mapping[str, Tensor], views: int) -> Tensor:
    """The vector of each row in each view; (views x distinct texts, dim) in, (views, rows, dim) out."""
    rows = columns["joint"] if "joint" in columns else columns["sentence"]
    return vectors.view(views, -1, vectors.shape[-1])[:, rows]
