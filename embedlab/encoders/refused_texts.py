"""Texts that a model refuses, each alone, while it encodes the others."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from embedlab.core.errors import EmbedlabError
from embedlab.core.first_few import first_few
from embedlab.core.printable import one_line

Vectors = NDArray[np.float32]  # (sentences, dim)
SHOWN = 3  # texts that the message names
LENGTH = 50  # characters of each that it shows


class RefusedTextsError(EmbedlabError):
    """Some texts have no vector; this holds those of the others, so that they can be cached before
    this is raised again.

    PLACES are those of the refused texts among all that were to be encoded, VECTORS the rows of the
    others in their order.
    """

    def __init__(
        self,
        who: str,
        refused: Sequence[tuple[str, str]],
        places: Sequence[int],
        vectors: NDArray[np.float32],
    ) -> None:
        self.who, self.refused, self.places, self.vectors = (
            who,
            tuple(refused),
            tuple(places),
            vectors,
        )
        count = len(self.refused)
        named = first_few((_named(text) for text, _ in self.refused), SHOWN, separator="; ")
        super().__init__(
            f"{who} refuses {f'{count} texts, each' if count > 1 else 'a text'} alone "
            f"({self.refused[0][1]}): {named}",
            hint="shorten or leave out what it refuses; the vectors of all other texts are "
            "computed, and cached where there is a cache",
        )

    def accepted(self, count: int) -> NDArray[np.bool_]:
        """Return which of COUNT texts have a vector."""
        is_accepted = np.ones(count, np.bool_)
        is_accepted[list(self.places)] = False
        return is_accepted

    def at(
        self,
        refused: Sequence[tuple[str, str]],
        places: Sequence[int] = (),
        vectors: NDArray[np.float32] | None = None,
    ) -> "RefusedTextsError":
        """Return the same of other texts."""
        return RefusedTextsError(
            self.who, refused, places, np.empty((0, 0), np.float32) if vectors is None else vectors
        )


def _named(text: str) -> str:
    shown = one_line(text)
    return (
        repr(shown)
        if len(shown) <= LENGTH
        else f"{shown[:LENGTH] + '…'!r} of {len(text):,} characters"
    )
