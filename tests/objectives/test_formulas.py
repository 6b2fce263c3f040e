"""Losses beside loops, the layers before them, and that none computes on another device than its
vectors.
"""

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from torch import Tensor, nn

from embedlab.core.names import objective_names, objective_options
from embedlab.core.recipe import ObjectiveSection
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.encoder import TextPair
from embedlab.models.folder import Wishes
from embedlab.objectives.anchor_sets import sample_subset
from embedlab.objectives.class_contrastive.loss import class_contrastive_loss
from embedlab.objectives.definition_to_word import loss as definition_to_word
from embedlab.objectives.in_batch_contrastive.loss import projection
from embedlab.objectives.needs import Needs
from embedlab.objectives.objective import Objective, build_objective
from embedlab.objectives.rows import index_rows
from embedlab.objectives.supervised_contrastive.loss import SupervisedContrastive
from embedlab.objectives.supervised_contrastive.options import Options as ContrastOptions
from tests.objectives.test_contract import MACHINE, frame_for

FURTHER = {
    "class_contrastive": [{"classes": "none"}],
    "duplicate_contrastive": [{"others": "leave-out"}],
    "in_batch_contrastive": [{"positives": "triplets"}, {"projection": "one-layer"}],
    "supervised_contrastive": [{"similarity": "cosine"}],
}
CASES = [(name, options) for name in objective_names() for options in ({}, *FURTHER.get(name, []))]


@pytest.mark.parametrize(("name", "changed"), CASES)
def test_a_loss_is_computed_where_its_vectors_are(
    name: str, changed: dict[str, object], tiny_encoder: Path
) -> None:
    """A tensor on another device is refused by torch: on a machine without a GPU the device without
    memory shows it.
    """
    module = objective_options(name)
    options = module.Options(**changed)
    needs = module.needs(options)
    encoder = load_transformer(str(tiny_encoder), MACHINE, wishes=Wishes(pooling="mean"))
    frame = frame_for(needs).with_columns(
        pl.lit(value).alias(column) for column, value in needs.only.items()
    )
    rows = index_rows(frame, needs, encoder.word_ids)
    objective: Objective = build_objective(
        ObjectiveSection(name=name, options=options), encoder.dim
    )
    objective.attach(encoder)
    objective = objective.to("meta")
    sampled = rows.columns | objective.sample(rows.columns, np.random.default_rng(0))
    batch = {key: torch.from_numpy(value).to("meta") for key, value in sampled.items()}
    vectors = torch.empty(len(objective.views) * len(rows.sentences), encoder.dim, device="meta")
    found = objective(vectors, batch)
    assert (found.device.type, found.shape) == ("meta", ())


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize(
    "labels", [[0, 0, 1, 1, 1, 2], [0, 1, 0, 1, 2, 3], [0, 1, 2, 3, 4, 5], [0, 0, 0, 0, 0, 0]]
)
def test_contrast_by_class_is_that_of_a_loop(labels: list[int], reduction: str) -> None:
    vectors = torch.randn(6, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    unit = vectors / vectors.norm(dim=1, keepdim=True)
    terms = []
    for i, label in enumerate(labels):
        others = [j for j in range(6) if j != i]
        total = sum(math.exp(float(unit[i] @ unit[j]) / 0.2) for j in others)
        own = [
            -math.log(math.exp(float(unit[i] @ unit[j]) / 0.2) / total)
            for j in others
            if labels[j] == label
        ]
        if own:
            terms.append(sum(own) / len(own))
    expected = sum(terms) / (max(len(terms), 1) if reduction == "mean" else 1)
    found = class_contrastive_loss(
        vectors, torch.tensor(labels), temperature=0.2, reduction=reduction
    )  # type: ignore[arg-type]
    assert found.item() == pytest.approx(expected)


@pytest.mark.parametrize("similarity", ["dot", "cosine"])
@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_the_joined_loss_is_that_of_loops_over_pairs_and_anchors(
    weight: float, similarity: str
) -> None:
    options = ContrastOptions(weight=weight, temperature=0.5, similarity=similarity)  # type: ignore[arg-type]
    objective = SupervisedContrastive(options, 4)
    vectors = torch.randn(6, 4, generator=torch.Generator().manual_seed(2))
    premise, hypothesis, label = [0, 1, 2, 0], [3, 4, 5, 4], [0, 2, 0, 1]
    sets = {0: ([3], [4, 5]), 2: ([5, 4], [3])}

    def mask(place: int) -> Tensor:
        return torch.tensor([[row in own[place] for row in range(6)] for own in sets.values()])

    columns = {
        "premise": torch.tensor(premise),
        "hypothesis": torch.tensor(hypothesis),
        "label": torch.tensor(label),
    }
    drawn = {"anchors": torch.tensor([*sets]), "positives": mask(0), "negatives": mask(1)}
    expected = 0.0
    if objective.head is not None:
        for first, second, kind in zip(premise, hypothesis, label, strict=True):
            features = torch.cat(
                [vectors[first], vectors[second], (vectors[first] - vectors[second]).abs()]
            )
            expected -= (1 - weight) * objective.head(features).log_softmax(0)[kind].item() / 4
    unit = vectors / vectors.norm(dim=1, keepdim=True) if similarity == "cosine" else vectors
    for anchor, (positives, negatives) in sets.items():
        scores = {
            row: math.exp(float(unit[anchor] @ unit[row]) / 0.5) for row in (*positives, *negatives)
        }
        for row in positives:
            expected -= (
                weight * math.log(scores[row] / sum(scores.values())) / len(positives) / len(sets)
            )
    found = objective(
        vectors, columns | (drawn if weight > 0 else {})
    )  # without its weight a part is not computed
    assert found.item() == pytest.approx(expected, rel=1e-5)


def test_layers_before_a_loss_are_those_of_their_paper() -> None:
    def kinds(module: nn.Module) -> dict[str, type]:
        return {name: type(layer) for name, layer in module.named_children()}

    assert kinds(projection("none", 4)) == {}
    assert kinds(projection("one-layer", 4)) == {"layer": nn.Linear, "activation": nn.Tanh}
    assert kinds(projection("two-layer", 4)) == {
        "hidden": nn.Linear,
        "activation": nn.ReLU,
        "output": nn.Linear,
    }


@pytest.mark.parametrize("limit", [1, 2, 7, 60])
def test_of_many_entries_exactly_as_many_are_drawn_as_there_may_be(limit: int) -> None:
    mask = np.random.default_rng(3).random((40, 300)) < 0.5
    found = sample_subset(mask, limit, np.random.default_rng(4))
    assert (found.sum(axis=1) == limit).all()
    assert (found <= mask).all()


@pytest.mark.parametrize("head", ["tied", "mlm"])
def test_a_head_of_the_encoder_s_own_word_vectors_is_noted(
    head: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(definition_to_word, "load_word_head", lambda encoder, kind: None)
    options = objective_options("definition_to_word").Options(head=head)
    objective = definition_to_word.DefinitionToWord(options, 4)
    objective.attach(None)  # type: ignore[arg-type]
    assert bool(objective.notes) == (head == "tied")


def test_of_texts_that_are_encoded_together_the_first_stays_the_first() -> None:
    needs = Needs(sentences=("sentence1", "sentence2"), joint=True)
    frame = frame_for(needs, 3)
    assert index_rows(frame, needs).texts == [
        TextPair(first=f"sentence1 {n}", second=f"sentence2 {n}") for n in range(3)
    ]
