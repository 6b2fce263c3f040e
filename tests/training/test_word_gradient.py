"""The word vectors' gradient in reused memory: that of torch, for words that come once, twice and
never.
"""

from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from embedlab.training.gradients import WordGradient
from tests.training.small_runs import (
    ARCHITECTURES,
    Train,
    joint_stages,
    narrow_encoder,
)

IDS, MASK = (
    torch.tensor([[2, 5, 6, 5, 3], [2, 6, 3, 0, 0]]),
    torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]),
)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_step_finds_torchs_gradient_and_the_next_one_begins_at_zero(
    architecture: str, tmp_path: Path
) -> None:
    encoder = narrow_encoder(tmp_path, architecture)
    encoder.backbone.eval()
    words = encoder.backbone.get_input_embeddings()
    assert isinstance(words, nn.Embedding)

    def learn(scale: float) -> None:
        vectors = encoder.forward_tokens(IDS, MASK)
        (scale * vectors * torch.linspace(-1, 1, vectors.numel()).view_as(vectors)).sum().backward()

    learn(1.0)
    expected, places, gradient = words.weight.grad, set(), WordGradient(words)
    assert expected is not None
    # the second as where a batch is encoded a few sentences at a time
    for scales in ([1.0], [1.0, 0.5]):
        encoder.backbone.zero_grad()
        with gradient.add_up():
            for scale in scales:
                learn(scale)
        assert words.weight.grad is not None
        torch.testing.assert_close(words.weight.grad, sum(scales) * expected)
        places.add(words.weight.grad.data_ptr())
    assert len(places) == 1
    encoder.backbone.zero_grad()
    learn(1.0)
    assert not words.weight.grad.is_sparse


@pytest.mark.parametrize(("combine", "is_reused"), [("average", True), ("surgery", False)])
def test_a_run_keeps_the_gradient_where_each_step_has_one(
    combine: str,
    is_reused: bool,
    train: Train,
    tiny_encoder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps, added_up = 0, WordGradient.add_up

    def count(gradient: WordGradient) -> AbstractContextManager[None]:
        nonlocal steps
        steps += 1
        return added_up(gradient)

    monkeypatch.setattr(WordGradient, "add_up", count)
    train(replace(joint_stages(tiny_encoder, combine), max_steps=6))
    assert steps == (6 if is_reused else 0)
