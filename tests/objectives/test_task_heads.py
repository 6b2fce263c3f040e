"""Chen's three heads against their formulas written out."""

import math

import pytest
import torch
from torch import Tensor

from embedlab.objectives.paraphrase_head.loss import ParaphraseHead
from embedlab.objectives.paraphrase_head.options import Options as ParaphraseOptions
from embedlab.objectives.sentiment_head.loss import SentimentHead
from embedlab.objectives.sentiment_head.options import Options as SentimentOptions
from embedlab.objectives.similarity_head.loss import SimilarityHead
from embedlab.objectives.similarity_head.options import Options as SimilarityOptions
from embedlab.objectives.task_layers import TaskLayers

VECTORS = torch.randn(6, 8, generator=torch.Generator().manual_seed(0))
PAIRS = {"sentence1": torch.tensor([0, 1, 2]), "sentence2": torch.tensor([3, 4, 0])}


def transformed(layers: torch.nn.Module, vector: Tensor) -> Tensor:
    assert isinstance(layers, TaskLayers)
    hidden = (layers.first.weight @ vector + layers.first.bias).clamp(min=0)
    return layers.second.weight @ hidden + layers.second.bias


def test_sentiment_is_the_cross_entropy_of_transformed_vectors() -> None:
    head = SentimentHead(SentimentOptions(), 8).eval()
    expected = 0.0
    for row, label in zip((5, 2), (4, 0), strict=True):
        logits = head.head.weight @ transformed(head.layers, VECTORS[row]) + head.head.bias
        expected -= math.log(logits.softmax(0)[label].item()) / 2
    found = head(VECTORS, {"sentence": torch.tensor([5, 2]), "label": torch.tensor([4, 0])})
    assert found.item() == pytest.approx(expected, abs=1e-5)


def test_paraphrases_are_told_by_a_bilinear_form() -> None:
    head = ParaphraseHead(ParaphraseOptions(), 8).eval()
    expected = 0.0
    for one, other, label in ((0, 3, 1), (1, 4, 0), (2, 0, 1)):
        first, second = transformed(head.layers, VECTORS[one]), transformed(head.layers, VECTORS[other])
        share = torch.sigmoid(first @ head.bilinear.weight[0] @ second + head.bilinear.bias[0]).item()
        expected -= math.log(share if label else 1 - share) / 3
    assert head(VECTORS, {**PAIRS, "is_duplicate": torch.tensor([1, 0, 1])}).item() == pytest.approx(expected, abs=1e-5)


def test_similarity_is_the_cosine_of_transformed_vectors() -> None:
    head = SimilarityHead(SimilarityOptions(), 8).eval()
    gold, expected = torch.tensor([5.0, 0.0, 2.5]), 0.0
    for (one, other), score in zip(((0, 3), (1, 4), (2, 0)), (1.0, 0.0, 0.5), strict=True):
        first, second = transformed(head.layers, VECTORS[one]), transformed(head.layers, VECTORS[other])
        expected += ((first @ second / (first.norm() * second.norm())).item() - score) ** 2 / 3
    assert head(VECTORS, {**PAIRS, "gold": gold}).item() == pytest.approx(expected, abs=1e-5)


def test_without_layers_the_vectors_go_on_as_they_are() -> None:
    head = SimilarityHead(SimilarityOptions(layers="none"), 8)
    assert not list(head.parameters())
    assert torch.equal(head.similarity(VECTORS[:3], VECTORS[3:]), torch.cosine_similarity(VECTORS[:3], VECTORS[3:]))
