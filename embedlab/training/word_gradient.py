"""The gradient of the word vectors, on a processor the largest block of a step, in memory that is kept from step to step.

A batch holds some hundred of 30,522 words. Where torch makes a gradient of all of them anew, BERT-base's takes 94 MB at each step;
what was freed of the one before has often been cut up for other blocks by then, and the C library gets it from the system page by page.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class WordGradient:
    """One dense gradient of WORDS, to which a step adds the rows of its own words alone."""

    def __init__(self, words: nn.Embedding) -> None:
        self._words = words
        self._kept: Tensor | None = None

    @contextmanager
    def added_up(self) -> Iterator[None]:
        """Within, gradients of the words are added to one that begins as zero: not for words that the step leaves as they are."""
        weight = self._words.weight
        self._kept = torch.zeros_like(weight) if self._kept is None else self._kept.zero_()
        weight.grad = self._kept
        self._words.sparse = True  # what comes back through them are rows, which torch adds to the gradient that is there
        try:
            yield
        finally:
            self._words.sparse = False
