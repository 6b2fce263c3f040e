"""The topics of items: what intervals count as dependent, and what is drawn or shown as a whole."""

import numpy as np
from numpy.typing import NDArray

from embedlab.analysis.near_duplicates import NearDuplicates
from embedlab.analysis.topics import topics_of_texts
from embedlab.outcomes.frame import Outcomes, text_numbers

Topics = NDArray[np.intp]  # (rows,) the number of each row's topic


def near_sentences(outcomes: Outcomes) -> NearDuplicates:
    """Return which sentences of each dataset are nearly the same; none where words are not at
    hand.
    """
    known = [block.near() for block in outcomes.blocks if block.near is not None]
    if len(known) == 1:
        return known[0]
    return NearDuplicates.joined(known) if known else NearDuplicates.none()


def item_topics(outcomes: Outcomes) -> Topics:
    """Return the number of each row's topic, as intervals find them: rows that share sentences, or
    have similar ones; (rows,).

    A row of unknown text is a topic of its own.
    """
    return topics_of_texts(text_numbers(outcomes), near_sentences(outcomes))
