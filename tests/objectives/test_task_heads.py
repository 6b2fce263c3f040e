"""Chen's three heads against their formulas written out."""

import math

import pytest
import torch
from torch import Tensor

from embedlab.core.errors import UsageError
from embedlab.core.recipe import load_recipe
from embedlab.objectives.losses import paraphrase_head, sentiment_head, similarity_head
from embedlab.objectives.losses.paraphrase_head import Options as ParaphraseOptions
from embedlab.objectives.losses.sentiment_head import Options as SentimentOptions
from embedlab.objectives.losses.similarity_head import Options as SimilarityOptions
from embedlab.objectives.needs import Layers, check_columns
from embedlab.objectives.objective import task_layers

ParaphraseHead = paraphrase_head.objective()
SentimentHead = sentiment_head.objective()
SimilarityHead = similarity_head.objective()

VECTORS = torch.randn(6, 8, generator=torch.Generator().manual_seed(0))
PAIRS = {"sentence1": torch.tensor([0, 1, 2]), "sentence2": torch.tensor([3, 4, 0])}


def transformed(layers: torch.nn.Module, vector: Tensor) -> Tensor:
    assert isinstance(layers, torch.nn.Sequential)
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


def test_paraphrases_are_recognised_by_a_bilinear_form() -> None:
    head = ParaphraseHead(ParaphraseOptions(), 8).eval()
    expected = 0.0
    for one, other, label in ((0, 3, 1), (1, 4, 0), (2, 0, 1)):
        first, second = (
            transformed(head.layers, VECTORS[one]),
            transformed(head.layers, VECTORS[other]),
        )
        share = torch.sigmoid(
            first @ head.bilinear.weight[0] @ second + head.bilinear.bias[0]
        ).item()
        expected -= math.log(share if label else 1 - share) / 3
    assert head(
        VECTORS, {**PAIRS, "is_duplicate": torch.tensor([1, 0, 1])}
    ).item() == pytest.approx(expected, abs=1e-5)


def test_similarity_is_the_cosine_of_transformed_vectors() -> None:
    head = SimilarityHead(SimilarityOptions(), 8).eval()
    gold, expected = torch.tensor([5.0, 0.0, 2.5]), 0.0
    for (one, other), score in zip(((0, 3), (1, 4), (2, 0)), (1.0, 0.0, 0.5), strict=True):
        first, second = (
            transformed(head.layers, VECTORS[one]),
            transformed(head.layers, VECTORS[other]),
        )
        expected += ((first @ second / (first.norm() * second.norm())).item() - score) ** 2 / 3
    assert head(VECTORS, {**PAIRS, "gold": gold}).item() == pytest.approx(expected, abs=1e-5)


RATE = 1 - 1e-7  # there is no rate of 1, but one so near that none is left


def test_all_that_enters_a_head_is_dropped_so_that_its_logits_are_its_bias() -> None:
    sentiment = SentimentHead(SentimentOptions(dropout=RATE), 8)
    assert torch.equal(sentiment.logits(VECTORS), sentiment.head.bias.expand(6, -1))
    paraphrase = ParaphraseHead(ParaphraseOptions(layers="none", dropout=RATE), 8)
    logits = paraphrase.logits(VECTORS[:3], VECTORS[3:])
    assert torch.equal(logits, paraphrase.bilinear.bias.expand(3))


def test_dropout_comes_before_both_additional_layers() -> None:
    layers = task_layers("two-layer", 8, RATE)
    seen: list[Tensor] = []
    for layer in (layers.first, layers.second):
        layer.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    layers(VECTORS)
    assert [bool(entered.any()) for entered in seen] == [False, False]


@pytest.mark.parametrize(
    ("own", "theirs"), [("none", "two-layer"), ("two-layer", "none"), ("two-layer", None)]
)
def test_a_head_without_layers_to_share_is_refused(own: Layers, theirs: Layers | None) -> None:
    similarity = SimilarityHead(SimilarityOptions(layers=own, sharing="whole"), 8)
    sentiment = SentimentHead(SentimentOptions(), 8)  # whose layers are not shared
    paraphrase = [] if theirs is None else [ParaphraseHead(ParaphraseOptions(layers=theirs), 8)]
    with pytest.raises(
        UsageError, match="similarity_head shares 'whole' with a paraphrase_head of two layers"
    ) as error:
        similarity.share([sentiment, similarity, *paraphrase])
    assert error.value.hint == "set the option sharing of similarity_head to separate"


def test_a_dropout_that_would_do_nothing_is_refused() -> None:
    changes = ["stages.objective.layers=none", "stage.2.objective.sharing=separate"]
    refused = r"'stage.2.objective.dropout' has no effect on 'similarity_head'"
    with pytest.raises(UsageError, match=refused) as error:
        check_columns(load_recipe("multitask", changes))
    assert error.value.hint == "--set stage.2.objective.dropout=0.0"
