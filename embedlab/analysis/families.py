"""Families: the groups of rows within which errors count as dependent, and between which as independent.

Rows that a chain of shared sentences connects are one topic. Topics with nearly equal sentences are joined, the most similar first,
unless they would be too large together: without the limit chains of similar sentences run through whole datasets.
"""

import numpy as np
from numpy.typing import NDArray

from embedlab.analysis.dependence import SharedSentences
from embedlab.analysis.influence import Floats
from embedlab.analysis.near_duplicates import NearDuplicates

MOST_ROWS, LARGEST_SHARE = 100, 1 / 10  # of what is joined; what shares sentences stays whole, however large
FEWEST_JOINED = 60  # rows: with fewer nothing is joined
_LINKS_AT_ONCE = 4_096

Numbers = NDArray[np.intp]


def largest_joined(rows: int) -> float:
    """Return the largest share of a score over ROWS, which count alike, that families are joined up to."""
    return min(MOST_ROWS / max(rows, 1), LARGEST_SHARE)


def families(shared: SharedSentences, shares: Floats, near: NearDuplicates, largest: float) -> Numbers:
    """Return the number of each row's family, (rows,), from 0; a component's where nothing is joined.

    shared: the sentences of the rows, identified as NEAR identifies them; shares: (rows,) of the score, their sum is 1; largest: the share
    that families are joined up to.
    """
    components = shared.components
    if len(components) < FEWEST_JOINED or not len(near.links.first):
        return components
    joins = _Joins(np.bincount(components, weights=shares).astype(np.float64), largest)
    first, second = _links(shared, near)
    for start in range(0, len(first), _LINKS_AT_ONCE):
        joins.add(first[start : start + _LINKS_AT_ONCE], second[start : start + _LINKS_AT_ONCE])
    numbers: Numbers = np.unique(joins.parent, return_inverse=True)[1][components]
    return numbers


class _Joins:
    """Components that are joined, two by two."""

    def __init__(self, sizes: Floats, largest: float) -> None:
        self.sizes = sizes.copy()  # of what a component is the first of
        self.most = largest + 1e-12
        self.parent = np.arange(len(sizes))  # each component's first one

    def add(self, first: Numbers, second: Numbers) -> None:
        """Join what is linked, in order, as far as sizes allow; what is refused once is refused ever after, for sizes only grow."""
        low, high, most = self.parent[first], self.parent[second], self.most
        low, high = np.minimum(low, high), np.maximum(low, high)
        open_links = np.flatnonzero((low != high) & (self.sizes[low] + self.sizes[high] <= most))
        keys = low[open_links] * len(self.parent) + high[open_links]
        once = open_links[np.sort(np.unique(keys, return_index=True)[1])]
        if not len(once):
            return
        nodes, numbers = np.unique(np.concatenate([low[once], high[once]]), return_inverse=True)
        parent, sizes = list(range(len(nodes))), self.sizes[nodes].tolist()
        for top, other in zip(*numbers.reshape(2, -1).tolist(), strict=True):
            while parent[top] != top:
                parent[top] = top = parent[parent[top]]
            while parent[other] != other:
                parent[other] = other = parent[parent[other]]
            if top != other and sizes[top] + sizes[other] <= most:
                top, other = min(top, other), max(top, other)
                parent[other], sizes[top] = top, sizes[top] + sizes[other]
        for node, above in enumerate(parent):  # what is above a node comes before it
            parent[node] = parent[above]
        self.parent[nodes], self.sizes[nodes] = nodes[parent], sizes
        self.parent = self.parent[self.parent]  # what was joined before follows its first one


def _links(shared: SharedSentences, near: NearDuplicates) -> tuple[Numbers, Numbers]:
    """Return every two components that have nearly equal sentences, by the similarity of these; (links,) each."""
    of_sentence = np.empty(shared.sentences, np.intp)  # all rows of a sentence are of one component
    of_sentence[shared.first] = of_sentence[shared.second] = shared.components
    index = np.minimum(np.searchsorted(shared.ids, near.ids), shared.sentences - 1)
    of_id = np.where(shared.ids[index] == near.ids, of_sentence[index], -1)
    first, second = of_id[near.links.first], of_id[near.links.second]
    apart = (first != second) & (first >= 0) & (second >= 0)
    return first[apart], second[apart]
