"""Topics: the groups of rows within which errors count as dependent, and between which as
independent.

Rows that a chain of shared sentences connects are a component. Components with nearly equal
sentences are joined to one topic, the most similar first, unless they would be too large together:
without the limit chains of similar sentences run through whole datasets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from embedlab.analysis.dependence import SharedSentences

if TYPE_CHECKING:
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
    """Return the largest share of a score over ROWS, which count alike, that topics are joined up
    to.
    """
    return min(MOST_ROWS / max(rows, 1), LARGEST_SHARE)


def topics_of_texts(texts: NDArray[np.uint64], near: NearDuplicates) -> Numbers:
    """Return the number of the topic of each row of TEXTS, (rows, 2) numbers of its two sentences,
    where rows count alike.
    """
    rows = len(texts)
    shared = SharedSentences.of(texts[:, 0], texts[:, 1])
    return join_topics(shared, np.full(rows, 1 / max(rows, 1)), near, largest_joined(rows))


def join_topics(
    shared: SharedSentences, shares: Floats, near: NearDuplicates, largest: float
) -> Numbers:
    """Return the number of each row's topic, (rows,), from 0; a component's where nothing is
    joined.

    shared: the sentences of the rows, identified as NEAR identifies them; shares: (rows,) of the
    score, their sum is 1; largest: the share that topics are joined up to.
    """
    components = shared.components
    if len(components) < FEWEST_JOINED or not len(near.links.first):
        return components
    sizes = np.bincount(components, weights=shares).astype(np.float64)  # of first components
    parent = np.arange(len(sizes), dtype=np.int32)  # each component's first one
    limit = largest + 1e-12
    first, second = _links(shared, near)
    while len(first):
        _join(parent, sizes, limit, first[:_LINKS_AT_ONCE], second[:_LINKS_AT_ONCE])
        parent = parent[parent]  # what was joined before follows its first one
        # Others of these links never can join, for sizes only grow.
        first = parent[first[_LINKS_AT_ONCE:]]
        second = parent[second[_LINKS_AT_ONCE:]]
        can_join = (first != second) & (sizes[first] + sizes[second] <= limit)
        first = first[can_join]
        second = second[can_join]
    numbers: Numbers = (
        np.cumsum(parent == np.arange(len(parent))) - 1
    )  # of those that are their own first one
    return numbers[parent][components]


def _join(
    parents: Components,
    component_sizes: Floats,
    limit: float,
    first: Components,
    second: Components,
) -> None:
    """Join what is linked, in order, as far as sizes allow; the links are of first components."""
    nodes, positions = np.unique(np.concatenate([first, second]), return_inverse=True)
    parent = list(range(len(nodes)))
    sizes = component_sizes[nodes].tolist()
    first_nodes, second_nodes = np.split(positions, 2)
    for root, other_root in zip(first_nodes.tolist(), second_nodes.tolist(), strict=True):
        while parent[root] != root:
            parent[root] = root = parent[parent[root]]
        while parent[other_root] != other_root:
            parent[other_root] = other_root = parent[parent[other_root]]
        if root != other_root and sizes[root] + sizes[other_root] <= limit:
            if other_root < root:
                root, other_root = other_root, root
            parent[other_root], sizes[root] = root, sizes[root] + sizes[other_root]
    for node, ancestor in enumerate(parent):  # the ancestor of a node comes before it
        parent[node] = parent[ancestor]
    parents[nodes], component_sizes[nodes] = nodes[parent], sizes


def _links(shared: SharedSentences, near: NearDuplicates) -> tuple[Components, Components]:
    """Return every two components that have nearly equal sentences, by the similarity of these;
    (links,) each.
    """
    component_of_sentence = np.empty(
        shared.sentences, np.int32
    )  # all rows of a sentence are of one component
    component_of_sentence[shared.first] = component_of_sentence[shared.second] = shared.components
    index = np.minimum(np.searchsorted(shared.ids, near.ids), shared.sentences - 1)
    component_of_id = np.where(
        shared.ids[index] == near.ids, component_of_sentence[index], np.int32(-1)
    )
    first = component_of_id[near.links.first]
    second = component_of_id[near.links.second]
    is_apart = (first != second) & (first >= 0) & (second >= 0)
    return first[is_apart], second[is_apart]
