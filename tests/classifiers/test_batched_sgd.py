"""The batched classifier against one fit at a time, and the exact one against scikit-learn."""

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


@pytest.mark.parametrize("schedule", [ADAM, RMSPROP], ids=["adam", "rmsprop"])
@pytest.mark.parametrize("classes", [2, 5])
def test_the_batch_of_fits_equals_one_fit_at_a_time(schedule: FitSchedule, classes: int) -> None:
    task = problem(classes=classes)
    fits = Fits.grid(
        stratified_folds(task.labels.numpy(), 3), L2[::3]
    )  # a slow fit takes a tenth of a second
    fitted = fit_classifiers(task, fits, schedule, seed=3)
    for number, (fold, l2) in enumerate(zip(fits.fold, fits.l2, strict=True)):
        layer, dev = slow_fit(
            task.features, task.labels, classes, fits.folds[fold], l2, schedule, seed=3
        )
        assert fitted.dev[number] == dev
        torch.testing.assert_close(
            fitted.weights[:-1, :, number], layer.weight.detach().T, rtol=0, atol=1e-9
        )
        torch.testing.assert_close(
            fitted.weights[-1, :, number], layer.bias.detach(), rtol=0, atol=1e-9
        )


def test_little_memory_splits_the_fits_and_changes_nothing() -> None:
    task = problem()
    fits = Fits.grid(stratified_folds(task.labels.numpy(), 4), L2)
    whole, split = (
        fit_classifiers(task, fits, ADAM, seed=0, memory_bytes=size) for size in (1 << 30, 6_000)
    )
    torch.testing.assert_close(split.weights, whole.weights)
    assert (split.dev == whole.dev).all()


def test_folds_with_other_numbers_of_minibatches_train_apart() -> None:
    task = problem(rows=96)
    folds = (
        Fold(train=np.arange(48), dev=np.arange(48, 96)),
        Fold(train=np.arange(33), dev=np.arange(48, 96)),
        Fold(train=np.arange(60, 93), dev=np.arange(9)),
    )
    fits = Fits.grid(folds, (1e-3,))
    fitted = fit_classifiers(task, fits, ADAM, seed=1)
    for number, fold in enumerate(folds):
        layer, dev = slow_fit(task.features, task.labels, task.classes, fold, 1e-3, ADAM, seed=1)
        assert fitted.dev[number] == dev
        torch.testing.assert_close(
            fitted.weights[:-1, :, number], layer.weight.detach().T, rtol=0, atol=1e-9
        )


def test_single_precision_gets_as_many_right() -> None:
    features, labels = blobs(300, 10, 2)
    task = Problem.of(features.astype(np.float32), labels)
    fits = Fits.grid(stratified_folds(labels, 5), (1e-4, 1e-2))
    fitted = fit_classifiers(task, fits, ADAM, seed=0)
    for number, (fold, l2) in enumerate(zip(fits.fold, fits.l2, strict=True)):
        layer, dev = slow_fit(task.features, task.labels, 2, fits.folds[fold], l2, ADAM, seed=0)
        rows = fits.folds[fold].dev
        assert fitted.dev[number] == dev
        assert (
            fitted.predict(task, number, rows) == layer(task.features[rows]).argmax(1).numpy()
        ).all()


@pytest.mark.parametrize(("rows", "classes", "folds"), [(100, 2, 10), (203, 3, 5), (57, 6, 4)])
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
def test_the_exact_optimum_is_that_of_scikit_learn(classes: int) -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    features, labels = blobs(240, 8, classes)
    features = (
        features @ np.diag(np.geomspace(0.05, 3, 8)) + 2
    )  # badly scaled and off centre, as real features are
    task = Problem.of(features, labels)
    folds = stratified_folds(labels, 3)
    fits = Fits.grid(folds, L2)
    fitted = fit_exactly(task, fits, tolerance=1e-14)
    for number, (fold, l2) in enumerate(zip(fits.fold, fits.l2, strict=True)):
        rows = folds[fold].train
        strength = (
            len(rows) * l2 / (2 if classes == 2 else 1)
        )  # of two classes scikit-learn has one column, which takes the penalty of two
        theirs = linear.LogisticRegression(C=1 / strength, solver="newton-cg", tol=1e-8).fit(
            features[rows], labels[rows]
        )
        slopes = fitted.weights[:-1, :, number].T.numpy()
        slopes = slopes[1:] - slopes[:1] if classes == 2 else slopes - slopes.mean(0)
        np.testing.assert_allclose(
            slopes,
            theirs.coef_ if classes == 2 else theirs.coef_ - theirs.coef_.mean(0),
            rtol=1e-3,
            atol=1e-2,
        )
        assert fitted.dev[number] == pytest.approx(
            theirs.score(features[folds[fold].dev], labels[folds[fold].dev]), abs=1e-3
        )


def test_exact_fits_in_little_memory_are_the_same() -> None:
    task = problem()
    fits = Fits.grid(stratified_folds(task.labels.numpy(), 3), L2)
    whole, split = (fit_exactly(task, fits, memory_bytes=size) for size in (1 << 30, 6_000))
    torch.testing.assert_close(split.weights, whole.weights, atol=1e-5, rtol=0)
