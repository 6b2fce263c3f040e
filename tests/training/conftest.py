"""Training on `--data tiny` in a folder of its own."""

from functools import partial
from pathlib import Path

import pytest
import torch

from embedlab.encoders.device import Machine
from embedlab.runs.store import RunFolder
from tests.training.small_runs import Train, train_in


@pytest.fixture(scope="module")
def gpu() -> Machine:
    """The first GPU in float32."""
    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    return Machine(device=torch.device("cuda"), precision="float32", threads=1)


@pytest.fixture
def small(tmp_path: Path) -> RunFolder:
    """The run that `train` makes where no name is given."""
    return RunFolder.of(tmp_path / "runs", "small", 1)


@pytest.fixture
def train(tmp_path: Path) -> Train:
    """Train a recipe on `--data tiny` into a folder of its own."""
    return partial(train_in, tmp_path / "runs")
