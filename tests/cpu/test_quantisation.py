"""int8: near float32, reported as such, under a fingerprint of its own, and never trained."""

from pathlib import Path

import numpy as np
import torch

from embedlab.cpu.linear import NOTE
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.device import Machine
from embedlab.models.reading import Wishes
from tests.training.small_runs import MACHINE

INT8 = Machine(device=torch.device("cpu"), precision="int8", threads=1)
SENTENCES = ["a man sleeps", "a dog runs in the park", "two children play"]


def test_int8_vectors_are_near_and_have_a_fingerprint_of_their_own(tiny_encoder: Path) -> None:
    exact, short = (
        load_transformer(str(tiny_encoder), here, wishes=Wishes(pooling="mean", max_tokens=32))
        for here in (MACHINE, INT8)
    )
    one, other = exact.encode(SENTENCES), short.encode(SENTENCES)
    error = np.linalg.norm(one - other, axis=1) / np.linalg.norm(one, axis=1)
    assert 0 < error.max() < 0.05
    assert short.fingerprint != exact.fingerprint
    assert short.facts.precision == "int8"
    assert NOTE in short.facts.notes
