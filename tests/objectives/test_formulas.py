"""Losses beside loops, the layers before them, and that none computes on another device than its
vectors.
"""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from torch import nn

from embedlab.core.names import objective_names, objective_options
from embedlab.core.recipe import ObjectiveSection
from embedlab.encoders.checkpoint import load_transformer
from embedlab.models.reading import Wishes
from embedlab.objectives.losses.in_batch_contrastive import projection
from embedlab.objectives.needs import index_rows
from embedlab.objectives.objective import Objective, build_objective
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
