"""Small random encoders of four architectures, sentences of many lengths, and a CPU."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from embedlab.encoders.device import Machine
from embedlab.encoders.random_encoder import build_random_encoder

WORDS = (
    "a",
    "dog",
    "runs",
    "in",
    "the",
    "park",
    "cat",
    "sleeps",
    "man",
    "guitar",
    "plays",
    "woman",
)


@pytest.fixture(scope="session")
def cpu() -> Machine:
    return Machine(device=torch.device("cpu"), precision="float32", threads=1)


@pytest.fixture(scope="session")
def architectures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("architectures")
    for name in ("bert", "roberta", "distilbert", "modernbert"):
        build_random_encoder(folder / name, seed=0, vocabulary=WORDS, architecture=name, hidden=32)
    return {path.name: path for path in folder.iterdir()}


@pytest.fixture(scope="session")
def small_bert(architectures: dict[str, Path]) -> Path:
    return architectures["bert"]


@pytest.fixture(scope="session")
def layout_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a layout of sentence-transformers by its name; no test changes it."""
    from tests.encoders.layouts import LAYOUTS
    from tests.encoders.opening import written_once

    return written_once(LAYOUTS, tmp_path_factory.mktemp("layouts"))


@pytest.fixture(scope="session")
def sentences() -> list[str]:
    """Forty distinct sentences of 0 to 60 words, some unknown, one longer than the encoders
    read.
    """
    rng = np.random.default_rng(0)
    drawn = [
        f"{number} " + " ".join(rng.choice([*WORDS, "zebra", "Über", "!"], rng.integers(0, 60)))
        for number in range(38)
    ]
    return ["", *drawn, "a " * 300]
