"""Training on `--data tiny` in a folder of its own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from embedlab.core.recipe import Recipe
from embedlab.encoders.device import Machine
from embedlab.runs.store import RunFolder
from embedlab.training.stages import train_run
from tests.training.small_runs import MACHINE, SAMPLE


@pytest.fixture(scope="module")
def gpu() -> Machine:
    """The first GPU in float32."""
    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    return Machine(device=torch.device("cuda"), precision="float32", threads=1)


@pytest.fixture
def train(tmp_path: Path) -> Callable[..., RunFolder]:
    """Train a recipe on `--data tiny` into a folder of its own."""

    def run(
        recipe: Recipe,
        name: str = "small",
        seed: int = 1,
        machine: Machine = MACHINE,
        **options: Any,
    ) -> RunFolder:
        torch.set_num_threads(1)
        folder = RunFolder.of(tmp_path / "runs", name, seed)
        train_run(recipe, SAMPLE, machine, folder, seed, **{"keeps_checkpoints": True, **options})
        return folder

    return run
