"""Families: the groups of rows within which errors count as dependent, and between which as
independent.

Rows that a chain of shared sentences connects are one topic. Topics with nearly equal sentences are
joined, the most similar first, unless they would be too large together: without the limit chains of
similar sentences run through whole datasets.
"""

import numpy as np
from numpy.typing import NDArray

from embedlab.analysis.dependence import SharedSentences
from embedlab.analysis.influence import Floats
from embedlab.analysis.near_duplicates import NearDuplicates

MOST_ROWS, LARGEST_SHARE = (
    100,
    1 / 10,
)  # of what is joined; what shares sentences stays whole, however large
FEWEST_JOINED = 60  # rows: with fewer nothing is joined
_LINKS_AT_ONCE = 4_096

Numbers = NDArray[np.intp]
Components = NDArray[np.int32]


def largest_joined(rows: int) -> float:
    """Return the largest share of a score over ROWS, which count alike, that families are joined up
    to.
    """
    return min(MOST_ROWS / max(rows, 1), LARGEST_SHARE)


def families(
    shared: SharedSentences, shares: Floats, near: NearDuplicates, largest: float
) -> Numbers:
    """Return the number of each row's family, (rows,), from 0; a component's where nothing is
    joined.

    shared: the sentences of the rows, identified as NEAR identifies them; shares: (rows,) of the
    score, their sum is 1; largest: the share that families are joined up to.
    """
    components = shared.components
    if len(components) < FEWEST_JOINED or not len(near.links.first):
        return components
    joins = _Joins(np.bincount(components, weights=shares).astype(np.float64), largest)
    first, second = _links(shared, near)
    while len(first):
        joins.add(first[:_LINKS_AT_ONCE], second[:_LINKS_AT_ONCE])
        first, second = joins.still_open(first[_LINKS_AT_ONCE:], second[_LINKS_AT_ONCE:])
    numbers: Numbers = (
        np.cumsum(joins.parent == np.arange(len(joins.parent))) - 1
    )  # of those that are their own first one
    return numbers[joins.parent][components]


class _Joins:
    """Components that are joined, two by two."""

    def __init__(self, sizes: Floats, largest: float) -> None:
        self.sizes = sizes.copy()  # of what a component is the first of
        self.most = largest + 1e-12
        self.parent = np.arange(len(sizes), dtype=np.int32)  # each component's first one
        self.places = np.empty_like(self.parent)  # of components among those that are being joined

    def still_open(self, first: Components, second: Components) -> tuple[Components, Components]:
        """Return those links, by the first components of what they link, that can join; the others
        never will, for sizes only grow.
        """
        first, second = self.parent[first], self.parent[second]
        is_open = (first != second) & (self.sizes[first] + self.sizes[second] <= self.most)
        return first[is_open], second[is_open]

    def add(self, first: Components, second: Components) -> None:
        """Join what is linked, in order, as far as sizes allow; the links are of first
        components.
        """
        linked = np.zeros(len(self.parent), dtype=bool)
        linked[first] = linked[second] = True
        nodes = np.flatnonzero(linked)
        self.places[nodes] = np.arange(len(nodes))
        parent, sizes, most = list(range(len(nodes))), self.sizes[nodes].tolist(), self.most
        for top, other in zip(
            self.places[first].tolist(), self.places[second].tolist(), strict=True
        ):
            while parent[top] != top:
                parent[top] = top = parent[parent[top]]
            while parent[other] != other:
                parent[other] = other = parent[parent[other]]
            if top != other and sizes[top] + sizes[other] <= most:
                if other < top:
                    top, other = other, top
                parent[other], sizes[top] = top, sizes[top] + sizes[other]
        for node, above in enumerate(parent):  # what is above a node comes before it
            parent[node] = parent[above]
        self.parent[nodes], self.sizes[nodes] = nodes[parent], sizes
        self.parent = self.parent[self.parent]  # what was joined before follows its first one


def _links(shared: SharedSentences, near: NearDuplicates) -> tuple[Components, Components]:
    """Return every two components that have nearly equal sentences, by the similarity of these;
    (links,) each.
    """
    of_sentence = np.empty(
        shared.sentences, np.int32
    )  # all rows of a sentence are of one component
    of_sentence[shared.first] = of_sentence[shared.second] = shared.components
    index = np.minimum(np.searchsorted(shared.ids, near.ids), shared.sentences - 1)
    of_id = np.where(shared.ids[index] == near.ids, of_sentence[index], np.int32(-1))
    first, second = of_id[near.links.first], of_id[near.links.second]
    apart = (first != second) & (first >= 0) & (second >= 0)
    return first[apart], second[apart]
