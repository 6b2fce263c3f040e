"""The pair classifier against sentence-transformers and against explicit pairs."""

import numpy as np
import polars as pl
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from embedlab.core.errors import UsageError
from embedlab.objectives.losses import nli_softmax
from embedlab.objectives.losses.nli_softmax import Augment, Options, describe, needs
from embedlab.objectives.needs import CONTRADICTION, ENTAILMENT, NEUTRAL

NliSoftmax = nli_softmax.objective()

NLI = pl.DataFrame(
    {
        "premise": ["a dog runs", "a dog runs", "it rains"],
        "hypothesis": ["a dog moves", "a dog sits", "it is dry"],
        "label": ["entailment", "neutral", "contradiction"],
    }
)

ROWS = np.array([(0, 2, ENTAILMENT), (0, 3, NEUTRAL), (1, 4, CONTRADICTION), (1, 5, ENTAILMENT)])
COLUMNS = dict(zip(("premise", "hypothesis", "label"), ROWS.T, strict=True))


class Embedded(torch.nn.Module):
    """What sentence-transformers' loss needs of an encoder, on sentences that are embedded
    already.
    """

    device = torch.device("cpu")

    def forward(self, features: dict[str, Tensor]) -> dict[str, Tensor]:
        return features


def _batch(columns: dict[str, np.ndarray]) -> dict[str, Tensor]:
    return {key: torch.from_numpy(value.copy()) for key, value in columns.items()}


def test_linear_head_equals_sentence_transformers() -> None:
    from sentence_transformers.sentence_transformer.losses import SoftmaxLoss

    vectors = torch.randn(6, 5)
    ours = NliSoftmax(Options(head="linear"), 5)
    theirs = SoftmaxLoss(model=Embedded(), embedding_dimension=5, num_labels=3)  # type: ignore[arg-type]
    theirs.classifier.load_state_dict(ours.head.state_dict())
    features = [{"sentence_embedding": vectors[ROWS[:, column]]} for column in (0, 1)]
    expected = theirs(features, torch.from_numpy(ROWS[:, 2].copy()))
    assert ours(vectors, _batch(COLUMNS)).item() == pytest.approx(expected.item(), abs=1e-6)


def test_two_layer_head_is_a_bend_between_two_layers() -> None:
    objective = NliSoftmax(Options(head="two-layer"), 4)
    hidden, output = objective.head.hidden, objective.head.output
    assert hidden.weight.shape == (6, 12)
    vectors = torch.randn(6, 4)
    u, v = vectors[ROWS[:, 0]], vectors[ROWS[:, 1]]
    logits = output(torch.tanh(hidden(torch.cat([u, v, (u - v).abs()], dim=1))))
    expected = F.cross_entropy(logits, torch.from_numpy(ROWS[:, 2].copy()))
    assert objective(vectors, _batch(COLUMNS)).item() == pytest.approx(expected.item(), abs=1e-6)


def test_augmented_pairs_are_each_anchor_with_its_sets() -> None:
    def sampled(augment: Augment) -> dict[str, np.ndarray]:
        objective = NliSoftmax(Options(augment=augment), 4)
        return objective.sample(COLUMNS, np.random.default_rng(0))

    pairs = sampled(Augment())
    found = sorted(zip(*(pairs[column].tolist() for column in COLUMNS), strict=True))
    others = [(0, 4), (0, 5), (1, 2), (1, 3)]
    assert found == sorted(
        [*map(tuple, ROWS.tolist()), *((*pair, CONTRADICTION) for pair in others)]
    )
    few = sampled(Augment(positives=1, negatives=2))
    assert np.bincount(few["premise"]).tolist() == [3, 3]
    assert (few["label"] == ENTAILMENT).sum() == 2


def test_augmented_pairs_keep_the_premises_together() -> None:
    with pytest.raises(UsageError, match="leaves augment no sets to draw from"):
        needs(Options(premises="apart", augment=Augment()))


def test_an_anchor_is_described_with_the_pairs_that_it_is_classified_in() -> None:
    seen = {
        tuple(describe(NLI, Options(augment=Augment()), np.random.default_rng(seed)))
        for seed in range(30)
    }
    dog = [
        ("anchor", "a dog runs"),
        ("entailment", "a dog moves"),
        ("neutral", "a dog sits"),
        ("contradiction", "it is dry"),
    ]
    rain = [
        ("anchor", "it rains"),
        *(("contradiction", text) for text in ("a dog moves", "a dog sits", "it is dry")),
    ]
    assert seen == {tuple(dog), tuple(rain)}
