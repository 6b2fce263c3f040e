"""Word overlap as a model: the baseline that needs no vectors."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from embedlab.analysis.overlap import dice_of_rows, dice_table
from embedlab.core.progress import ProgressCallback
from embedlab.encoders.encoder import EncoderFacts
from embedlab.models.encoder_kind import combined_fingerprint


class DiceScorer:
    """The Dice coefficient of the two sentences' word sets."""

    name = "dice"
    fingerprint = combined_fingerprint("dice")
    facts = EncoderFacts()

    def score(
        self, first: Sequence[str], second: Sequence[str], progress: ProgressCallback | None = None
    ) -> NDArray[np.float32]:
        """Return the word overlap of each pair, 0 to 1."""
        return dice_of_rows(first, second).to_numpy().astype(np.float32)

    def score_all(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float32]:
        """Return the word overlap of each text of FIRST with each of SECOND; (first, second)."""
        return dice_table(first, second).astype(np.float32)
