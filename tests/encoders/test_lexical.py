import numpy as np

from embedlab.encoders.loading import DiceScorer


def test_dice_scores_word_overlap() -> None:
    scores = DiceScorer().score(
        ["A dog runs", "same words", ""], ["a dog sleeps", "words same", "x"]
    )
    np.testing.assert_allclose(scores, [2 / 3, 1, 0], atol=1e-7)
