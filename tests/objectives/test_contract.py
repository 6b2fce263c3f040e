"""What every objective must do, walked over the folder."""

import sys
from pathlib import Path
from subprocess import run

import numpy as np
import polars as pl
import pytest
import torch
from torch import nn

from embedlab.core.names import objective_names, objective_options
from embedlab.core.recipe import ObjectiveSection
from embedlab.data import tiny
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.device import Machine
from embedlab.models.reading import UsageOptions
from embedlab.objectives.needs import Needs, describe_row, index_rows
from embedlab.objectives.objective import Objective, build_objective

OBJECTIVES = objective_names()
FURTHER = {
    "class_contrastive": [{"classes": "none"}],
    "duplicate_contrastive": [{"others": "leave-out"}],
    "in_batch_contrastive": [
        {"positives": "triplets", "projection": "two-layer"},
        {"projection": "one-layer"},
    ],
    "supervised_contrastive": [{"similarity": "cosine"}],
}
CASES = [(name, options) for name in OBJECTIVES for options in ({}, *FURTHER.get(name, []))]
MACHINE = Machine(device=torch.device("cpu"), precision="float32", threads=1)


def frame_for(needs: Needs, rows: int = 24) -> pl.DataFrame:
    """Rows with the columns an objective needs; what must stay together comes in threes."""
    rng = np.random.default_rng(0)
    columns: dict[str, list[object]] = {
        column: [f"{column} {index}" for index in range(rows)] for column in needs.sentences
    }
    if needs.shared_column is not None:
        columns[needs.shared_column] = [
            f"{needs.shared_column} {index // 3}" for index in range(rows)
        ]
    labels: dict[str, list[object]] = {
        column: rng.choice(classes, rows).tolist() for column, classes in needs.classes.items()
    }
    labels |= {column: [index % 6 for index in range(rows)] for column in needs.numbers}
    words: dict[str, list[object]] = {
        column: [tiny.vocabulary()[index] for index in range(rows)] for column in needs.words
    }
    return pl.DataFrame(columns | labels | words)


def made(
    name: str, changed: dict[str, object], folder: Path
) -> tuple[Objective, nn.Parameter, dict[str, torch.Tensor]]:
    """An objective beside the encoder in FOLDER, vectors for it, and the columns of a batch."""
    torch.manual_seed(0)
    module = objective_options(name)
    options = module.Options(**changed)
    needs = module.needs(options)
    encoder = load_transformer(str(folder), MACHINE, wishes=UsageOptions(pooling="mean"))
    frame = frame_for(needs).with_columns(
        pl.lit(value).alias(column) for column, value in needs.only.items()
    )
    rows = index_rows(frame, needs, encoder.word_ids)
    objective = build_objective(ObjectiveSection(name=name, options=options), encoder.dim)
    objective.attach(encoder)
    vectors = nn.Parameter(torch.randn(len(objective.views) * len(rows.sentences), encoder.dim))
    sampled = rows.columns | objective.sample(rows.columns, np.random.default_rng(0))
    return objective, vectors, {key: torch.from_numpy(value) for key, value in sampled.items()}


@pytest.mark.parametrize(("name", "changed"), CASES)
def test_the_loss_falls_every_parameter_moves_and_any_device_will_do(
    name: str, changed: dict[str, object], tiny_encoder: Path
) -> None:
    """A tensor on another device is refused by torch: on a machine without a GPU the device without
    memory shows it.
    """
    objective, vectors, batch = made(name, changed, tiny_encoder)
    trained = [one for one in (vectors, *objective.parameters()) if one.requires_grad]
    # a bilinear form under dropout overshoots at five times that
    optimizer = torch.optim.Adam(trained, lr=0.01)
    losses = []
    for _ in range(10):
        loss = objective(vectors, batch)
        optimizer.zero_grad()
        loss.backward()
        assert all(one.grad is not None and one.grad.isfinite().all() for one in trained)
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]

    elsewhere = {key: value.to("meta") for key, value in batch.items()}
    assert objective.to("meta")(vectors.to("meta"), elsewhere).device.type == "meta"


@pytest.mark.parametrize("name", OBJECTIVES)
def test_an_objective_describes_itself_in_words(name: str) -> None:
    options = objective_options(name)
    describe = getattr(options, "describe", describe_row)
    example = describe(
        frame_for(options.needs(options.Options())), options.Options(), np.random.default_rng(0)
    )
    assert options.SUMMARY
    assert example
    assert all(role and sentence for role, sentence in example)


def test_options_are_light() -> None:
    code = (
        "import sys, importlib\n"
        "for name in sys.argv[1:]:\n"
        "    importlib.import_module(f'embedlab.objectives.losses.{name}')\n"
        "    assert not {'torch', 'transformers', 'datasets'} & set(sys.modules), name\n"
    )
    assert run([sys.executable, "-c", code, *OBJECTIVES], check=False).returncode == 0
