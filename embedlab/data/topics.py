"""A part of a user's own rows that is held out by topics: rows that a chain of shared sentences
connects stay together.

A random part of the rows would hold sentences of the others, and a score on it would be too high.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.data.words import normalise

SEED = 1  # of the order in which topics are drawn: the same rows for every run
FEWEST = 10  # held-out rows; fewer say nothing
# times the rows that are wanted: a topic that makes the part larger stays out of it
_LARGEST_SHARE = 1.5
_MOST = 0.25  # of all rows


def topics_of(rows: pl.DataFrame, columns: Sequence[str]) -> NDArray[np.intp]:
    """Return the number of each row's topic by first appearance, (rows,): rows that texts of
    COLUMNS with equal words connect.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    numbers: dict[str, int] = {}
    texts = [rows[name].cast(pl.String).fill_null("").to_list() for name in columns]
    keys = [
        [numbers.setdefault(normalise(text) or text, len(numbers)) for text in column]
        for column in texts
    ]
    first = np.repeat(np.array(keys[0], dtype=np.intp)[None], len(keys), axis=0)
    links = coo_matrix(
        (np.ones(first.size, np.int32), (first.ravel(), np.array(keys).ravel())),
        shape=(len(numbers), len(numbers)),
    )
    component = connected_components(links, directed=False)[1][keys[0]]
    _, first_rows, number = np.unique(component, return_index=True, return_inverse=True)
    order: NDArray[np.intp] = np.argsort(np.argsort(first_rows))[number]
    return order


def is_held_out(rows: pl.DataFrame, columns: Sequence[str], share: float) -> NDArray[np.bool_]:
    """Return which rows are held out: topics drawn by SEED until they have this SHARE of the rows,
    at least FEWEST; (rows,).

    None are where whole topics give fewer than FEWEST rows, or more than a quarter of all.
    """
    topics = topics_of(rows, columns)
    sizes = np.bincount(topics)
    wanted = max(round(share * len(topics)), FEWEST)
    most, taken, drawn = (
        min(_LARGEST_SHARE * wanted, _MOST * len(topics)),
        0,
        np.zeros(len(sizes), bool),
    )
    for topic in np.random.default_rng(SEED).permutation(len(sizes)):
        if taken < wanted and taken + sizes[topic] <= most:
            drawn[topic], taken = True, taken + sizes[topic]
    return drawn[topics] if taken >= FEWEST else np.zeros(len(topics), bool)
