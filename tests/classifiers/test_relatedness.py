"""Trained relatedness against loops written with torch's own layer and loss."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from embedlab.classifiers import relatedness
from embedlab.classifiers.batched_sgd import shuffle_rows
from embedlab.classifiers.relatedness import fit_relatedness, score_distributions
from tests.tasks.slow_classifier import linear_layer

PASSES = 300  # at most, fewer than in earnest


def test_a_score_becomes_the_two_grades_beside_it_as_in_tai() -> None:
    expected = {
        0.4: [0.4, 0, 0, 0, 0],
        1.0: [1, 0, 0, 0, 0],
        2.3: [0, 0.7, 0.3, 0, 0],
        4.999: [0, 0, 0, 0.001, 0.999],
        5.0: [0, 0, 0, 0, 1],
    }
    found = score_distributions(tuple(expected))
    np.testing.assert_allclose(found, list(expected.values()), atol=1e-6)


def rated(rows: int = 150, dim: int = 6) -> tuple[torch.Tensor, np.ndarray]:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(rows, dim))
    gold = np.clip(3 + features @ rng.normal(size=dim) + rng.normal(scale=0.7, size=rows), 1, 5)
    return torch.from_numpy(features), gold


def slow_fit(
    features: torch.Tensor, gold: np.ndarray, train: np.ndarray, dev: np.ndarray, seed: int
) -> tuple[nn.Module, float]:
    """The same with autograd, one step after the other."""
    layer = linear_layer(features, 5, seed)
    model = nn.Sequential(layer, nn.Softmax(dim=-1))
    optimiser = torch.optim.Adam(model.parameters())
    goals = torch.from_numpy(score_distributions(gold)).double()
    best, best_model, strikes, passes = -1.0, model, 0, 0
    while passes <= PASSES:
        for _ in range(relatedness.PASSES_PER_CHECK):
            for rows in torch.from_numpy(train[shuffle_rows(len(train), seed, passes)]).split(64):
                optimiser.zero_grad()
                nn.MSELoss()(model(features[rows]), goals[rows]).backward()
                optimiser.step()
            passes += 1
        found = float(np.corrcoef(expected_grades(model, features[dev]), gold[dev])[0, 1])
        if found > best:
            best, best_model = found, copy.deepcopy(model)
        elif strikes >= 3:
            break
        else:
            strikes += 1
    return best_model, best


def expected_grades(model: nn.Module, features: torch.Tensor) -> np.ndarray:
    grades: np.ndarray = model(features).detach().numpy() @ np.arange(1, 6)
    return grades


@pytest.mark.parametrize("passes", [2, 50])
def test_the_fit_is_that_of_torchs_own_layer_and_loss(
    passes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relatedness, "PASSES_PER_CHECK", passes)
    monkeypatch.setattr(relatedness, "MAX_CHECKS", -(-(PASSES + 1) // passes))
    features, gold = rated()
    train, dev, test = np.arange(80), np.arange(80, 110), np.arange(110, 150)
    reported: list[int] = []
    fitted = fit_relatedness(
        features, gold, train, dev, seed=3, progress=lambda done, _: reported.append(done)
    )
    model, best = slow_fit(features, gold, train, dev, seed=3)
    assert fitted.dev == pytest.approx(best, abs=1e-6)
    np.testing.assert_allclose(
        fitted.predict(features[test]), expected_grades(model, features[test]), atol=1e-4
    )
    assert reported == list(range(1, len(reported) + 1))


def test_features_that_say_nothing_still_give_a_regression() -> None:
    fitted = fit_relatedness(
        torch.zeros(60, 4), np.linspace(1, 5, 60), np.arange(40), np.arange(40, 60), seed=0
    )
    assert np.isnan(fitted.dev)
    assert np.isfinite(fitted.predict(torch.zeros(3, 4))).all()
