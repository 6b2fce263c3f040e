"""The gradient of the word vectors, on a CPU the largest block of a step, in memory that is reused
from step to step.

A batch holds some hundred of 30,522 words. If torch allocated a gradient of all of them at each
step, BERT-base's would take 94 MB; by then the memory freed by the last step is often split up for
other blocks, and the C library requests it from the system page by page.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class WordGradient:
    """One dense gradient of WORDS, to which a step adds only the rows of its own words."""

    def __init__(self, words: nn.Embedding) -> None:
        self._words = words
        self._gradient: Tensor | None = None

    @contextmanager
    def added_up(self) -> Iterator[None]:
        """Within the block, add gradients of words to a zeroed dense gradient; only for words that
        the step trains.
        """
        weight = self._words.weight
        self._gradient = (
            torch.zeros_like(weight) if self._gradient is None else self._gradient.zero_()
        )
        weight.grad = self._gradient
        # their gradients are sparse rows, which torch adds to the existing dense gradient
        self._words.sparse = True
        try:
            yield
        finally:
            self._words.sparse = False
