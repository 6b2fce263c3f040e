"""The batched classifier against one fit at a time, and the exact one against scikit-learn."""

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from embedlab.classifiers.batched_sgd import fit_classifiers
from embedlab.classifiers.fits import Fits, Problem
from embedlab.classifiers.folds import Fold, hold_back, stratified_folds
from embedlab.classifiers.logistic import fit_exactly
from embedlab.classifiers.settings import FitSchedule
from tests.tasks.slow_classifier import slow_fit

ADAM = FitSchedule(
    optimiser="adam", lr=1e-2, batch=16, tenacity=2, passes_per_check=2, max_passes=60
)
RMSPROP = FitSchedule(
    optimiser="rmsprop", lr=1e-2, batch=32, tenacity=1, passes_per_check=1, max_passes=30
)
L2 = (1e-5, 1e-4, 1e-3, 1e-2)


def blobs(
    rows: int, dim: int, classes: int, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Overlapping clouds with classes of unequal size."""
    rng = np.random.default_rng(seed)
    labels = np.minimum(rng.integers(0, classes + 1, rows), classes - 1)
    return rng.normal(size=(rows, dim)) + 0.7 * rng.normal(size=(classes, dim))[labels], labels


def problem(rows: int = 203, dim: int = 7, classes: int = 3) -> Problem:
    return Problem.of(*blobs(rows, dim, classes))


def assert_fits_are_slow_fits(task: Problem, fits: Fits, schedule: FitSchedule, seed: int) -> None:
    fitted = fit_classifiers(task, fits, schedule, seed=seed)
    for number, (fold, l2) in enumerate(zip(fits.fold, fits.l2, strict=True)):
        layer, dev = slow_fit(
            task.features, task.labels, task.classes, fits.folds[fold], l2, schedule, seed=seed
        )
        assert fitted.dev[number] == dev
        expected = torch.cat([layer.weight.T, layer.bias[None]]).detach()
        torch.testing.assert_close(fitted.weights[:, :, number], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("schedule", [ADAM, RMSPROP], ids=["adam", "rmsprop"])
@pytest.mark.parametrize("classes", [2, 5])
def test_the_batch_of_fits_equals_one_fit_at_a_time(schedule: FitSchedule, classes: int) -> None:
    task = problem(classes=classes)
    # a slow fit takes a tenth of a second
    fits = Fits.grid(stratified_folds(task.labels.numpy(), 3), L2[::3])
    assert_fits_are_slow_fits(task, fits, schedule, seed=3)


@pytest.mark.parametrize(
    ("fit", "atol"), [(partial(fit_classifiers, schedule=ADAM, seed=0), 1e-9), (fit_exactly, 1e-5)]
)
def test_little_memory_splits_the_fits_and_changes_nothing(
    fit: Any, atol: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = problem()
    fits = Fits.grid(stratified_folds(task.labels.numpy(), 4), L2)
    whole = fit(task, fits)
    monkeypatch.setattr("embedlab.classifiers.fits.MEMORY_BYTES", 6_000)
    split = fit(task, fits)
    torch.testing.assert_close(split.weights, whole.weights, rtol=0, atol=atol)
    assert (split.dev == whole.dev).all()


def test_folds_with_other_numbers_of_minibatches_train_apart() -> None:
    task = problem(rows=96)
    folds = (
        Fold(train=np.arange(48), dev=np.arange(48, 96)),
        Fold(train=np.arange(30), dev=np.arange(48, 96)),
        Fold(train=np.arange(60, 93), dev=np.arange(9)),
    )
    assert_fits_are_slow_fits(task, Fits.grid(folds, (1e-3,)), ADAM, seed=1)


@pytest.mark.parametrize(("rows", "classes", "folds"), [(100, 2, 10), (57, 6, 4)])
def test_folds_are_those_of_scikit_learn(rows: int, classes: int, folds: int) -> None:
    selection = pytest.importorskip("sklearn.model_selection")
    labels = blobs(rows, 2, classes)[1]
    theirs = selection.StratifiedKFold(folds, shuffle=True, random_state=1111).split(labels, labels)
    for ours, (train, dev) in zip(stratified_folds(labels, folds), theirs, strict=True):
        assert (ours.train == train).all()
        assert (ours.dev == dev).all()


def test_a_share_is_held_back_at_random_and_rounded_down() -> None:
    fold = hold_back(np.arange(100, 159), 0.05, seed=4)
    assert len(fold.dev) == 2
    assert sorted([*fold.train, *fold.dev]) == list(range(100, 159))


@pytest.mark.parametrize("classes", [2, 4])
def test_the_exact_optimum_is_that_of_scikit_learn(
    classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("embedlab.classifiers.logistic.MIN_GAIN", 1e-14)
    linear = pytest.importorskip("sklearn.linear_model")
    features, labels = blobs(240, 8, classes)
    # badly scaled and off centre, as real features are
    features = features @ np.diag(np.geomspace(0.05, 3, 8)) + 2
    folds = stratified_folds(labels, 3)
    fits = Fits.grid(folds, L2)
    fitted = fit_exactly(Problem.of(features, labels), fits)
    for number, (fold, l2) in enumerate(zip(fits.fold, fits.l2, strict=True)):
        train, dev = folds[fold].train, folds[fold].dev
        # of two classes scikit-learn has one column, which takes the penalty of two
        strength = len(train) * l2 / (2 if classes == 2 else 1)
        theirs = linear.LogisticRegression(C=1 / strength, solver="newton-cg", tol=1e-8)
        theirs.fit(features[train], labels[train])
        slopes = fitted.weights[:-1, :, number].T.numpy()
        slopes, expected = (
            (slopes[1:] - slopes[:1], theirs.coef_)
            if classes == 2
            else (slopes - slopes.mean(0), theirs.coef_ - theirs.coef_.mean(0))
        )
        np.testing.assert_allclose(slopes, expected, rtol=1e-3, atol=1e-2)
        right = theirs.score(features[dev], labels[dev])
        assert fitted.dev[number] == pytest.approx(right, abs=1e-3)
