"""Families: the groups of rows within which errors count as dependent, and between which as independent.

Rows that a chain of shared sentences connects are one topic. Topics with nearly equal sentences are joined, the most similar first,
unless they would exceed a twentieth of the score together: without the limit chains of similar sentences run through whole datasets.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from embedlab.analysis.influence import Floats
from embedlab.analysis.near_duplicates import NearDuplicates, TextIds

LARGEST_JOINED = 1 / 20  # of the score; what shares sentences stays whole, however large
FEWEST_JOINED = 60  # rows: with fewer nothing is joined

Numbers = NDArray[np.intp]


def families(components: Numbers, shares: Floats, texts: TextIds, near: NearDuplicates) -> Numbers:
    """Return the number of each row's family, (rows,), from 0.

    components: (rows,) numbers, from 0, of the rows that a chain of shared sentences connects; shares: (rows,) of the score, their sum
    is 1; texts: (rows, 2) the sentences, as NEAR numbers them.
    """
    if len(components) < FEWEST_JOINED or not len(near.first):
        return components
    sizes = np.bincount(components, weights=shares).tolist()
    parent = list(range(len(sizes)))

    def root(one: int) -> int:
        while parent[one] != one:
            parent[one] = parent[parent[one]]
            one = parent[one]
        return one

    for first, second in _links(components, texts, near):
        own, other = root(first), root(second)
        if own != other and sizes[own] + sizes[other] <= LARGEST_JOINED + 1e-12:
            own, other = min(own, other), max(own, other)
            parent[other], sizes[own] = own, sizes[own] + sizes[other]
    roots = np.array([root(one) for one in range(len(parent))])
    numbers: Numbers = np.unique(roots, return_inverse=True)[1][components]
    return numbers


def _links(components: Numbers, texts: TextIds, near: NearDuplicates) -> Iterator[tuple[int, int]]:
    """Yield every two components that have nearly equal sentences, by the similarity of these."""
    known, places = np.unique(texts.ravel(), return_index=True)
    of_text = np.repeat(components, 2)[places]
    sides = []
    there = np.ones(len(near.first), dtype=bool)
    for side in (near.first, near.second):
        found = np.minimum(np.searchsorted(known, side), len(known) - 1)
        there &= known[found] == side
        sides.append(of_text[found])
    first, second = sides
    apart = np.flatnonzero(there & (first != second))
    yield from zip(first[apart].tolist(), second[apart].tolist(), strict=True)
