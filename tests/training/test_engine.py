"""Training with the engine for processors and without it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import load_file

from embedlab.runs.store import RunFolder
from tests.training.small_runs import MACHINE, recipe_of

Train = Callable[..., RunFolder]

OFF = replace(MACHINE, has_cpu_engine=False)


def test_a_run_ends_with_the_same_weights_either_way(train: Train, tiny_encoder: Path) -> None:
    labelled = {
        "data": {"datasets": ["glue-sst2"], "rows": 48},
        "objective": {
            "name": "classification",
            "head_dropout": 0.0,
            "dropout": [0.0],
        },  # each way draws dropout of its own
        "optim": {"lr": 1e-3, "batch_size": 16, "weight_decay": 0.01, "clip": 1.0},
    }
    runs = [
        train(recipe_of(tiny_encoder, labelled), name, machine=here)
        for name, here in (("on", MACHINE), ("off", OFF))
    ]
    on, off = (load_file(run.model / "model.safetensors") for run in runs)
    start = {
        name.removeprefix("bert."): weight
        for name, weight in load_file(tiny_encoder / "model.safetensors").items()
    }
    moved = max(float((off[name] - start[name]).abs().max()) for name in off.keys() & start.keys())
    assert moved > 1e-3
    torch.testing.assert_close(on, off, rtol=1e-4, atol=1e-5)
    assert [run.environment().device for run in runs] == ["cpu", "cpu, engine off"]
