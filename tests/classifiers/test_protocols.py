"""The protocols against one slow fit after the other, in settings that are written down here from
FACTS.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from embedlab.choices import SettingName
from embedlab.classifiers.fits import Problem
from embedlab.classifiers.folds import HELD_BACK
from embedlab.classifiers.protocols import Protocol
from embedlab.classifiers.settings import SETTINGS, FitSchedule, Setting
from tests.tasks import slow_protocol
from tests.tasks.slow_protocol import SlowProtocol

L2 = (1e-5, 1e-4, 1e-3, 1e-2)
EXPECTED: Mapping[SettingName, Setting] = MappingProxyType(
    {
        "literature": Setting(
            name="literature",
            folds=10,
            schedule=FitSchedule(
                optimiser="adam", lr=1e-3, batch=64, tenacity=5, passes_per_check=4, max_passes=200
            ),
            l2=L2,
        ),
        "prototyping": Setting(
            name="prototyping",
            folds=5,
            schedule=FitSchedule(
                optimiser="rmsprop",
                lr=1e-2,
                batch=128,
                tenacity=3,
                passes_per_check=2,
                max_passes=200,
            ),
            l2=L2,
        ),
        "exact": Setting(name="exact", folds=10, schedule=None, l2=L2),
    }
)
TRAINED: tuple[SettingName, ...] = ("literature", "prototyping")
ROWS = np.roll(np.arange(60), 6)
WAYS: Mapping[str, Callable[[Any], Any]] = (
    MappingProxyType(  # of the real protocol and of the slow one
        {
            "nested folds": lambda protocol: protocol.cross_validate(),
            "folds of the train rows": lambda protocol: protocol.tune_by_folds(
                np.arange(42), np.arange(42, 60)
            ),
            "given dev rows": lambda protocol: protocol.tune_by_dev(
                ROWS[:30], ROWS[30:45], ROWS[45:]
            ),
        }
    )
)


def clouds() -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """60 rows so close to the origin that the L2 decides; float64, so that no prediction hangs on a
    rounding.
    """
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 3
    return 0.1 * (rng.normal(size=(60, 30)) + rng.normal(size=(3, 30))[labels]), labels


def both(setting: SettingName) -> tuple[Protocol, SlowProtocol]:
    """The real protocol in its own setting, the slow one in the expected one, both with three
    folds.
    """
    features, labels = clouds()
    real, slow = (replace(of[setting], folds=3) for of in (SETTINGS, EXPECTED))
    return (
        Protocol(problem=Problem.of(features, labels), setting=real, seed=5),
        SlowProtocol(torch.from_numpy(features), labels, slow, seed=5),
    )


def test_the_settings_are_those_of_the_literature() -> None:
    assert SETTINGS == EXPECTED


def test_five_of_a_hundred_rows_are_held_back() -> None:
    assert HELD_BACK == slow_protocol.HELD_BACK == 0.05


@pytest.mark.parametrize("setting", TRAINED)
@pytest.mark.parametrize("way", WAYS)
def test_each_way_chooses_and_predicts_as_one_slow_fit_after_the_other(
    way: str, setting: SettingName
) -> None:
    real, slow = both(setting)
    outcome, expected = WAYS[way](real), WAYS[way](slow)
    assert outcome.l2 == expected.l2
    assert outcome.predicted.tolist() == expected.predicted.tolist()
    assert outcome.accuracy == pytest.approx(expected.right / len(expected.predicted))


@pytest.mark.parametrize("way", WAYS)
def test_the_rows_are_such_that_not_always_the_first_l2_is_chosen(way: str) -> None:
    assert {l2 for setting in TRAINED for l2 in WAYS[way](both(setting)[0]).l2} > {L2[0]}


@pytest.mark.parametrize(("better", "chosen"), [(1, 0), (3, 1)])
def test_a_gain_below_the_hundredth_of_a_point_does_not_choose_a_stronger_l2(
    better: int, chosen: int
) -> None:
    """SentEval rounds the accuracies first: of 25,000 dev rows one is 0.004 points, three are
    0.012.
    """
    l2 = (1e-3, 1e-1)
    train, labels = np.array([[-1.0], [0.0], [0.5], [5.0]] * 20), np.array([0, 1, 0, 1] * 20)
    weak, strong = (boundary(train, labels, one) for one in l2)
    assert abs(weak - strong) > 0.1
    # rows that the two classify differently, labelled as the stronger one does, and sure ones
    between, sure = [(weak + strong) / 2] * better, 12_500 - better
    features = np.array([*train[:, 0], *between, *[-9.0] * sure, *[9.0] * 12_500])[:, None]
    own = [int(strong < weak)] * better
    problem = Problem.of(features, np.array([*labels, *own, *[0] * sure, *[1] * 12_500]))
    protocol = Protocol(problem=problem, setting=replace(SETTINGS["exact"], l2=l2))
    dev = np.arange(80, len(features))
    assert protocol.tune_by_dev(np.arange(80), dev, np.arange(80, 90)).l2 == (l2[chosen],)


def boundary(features: NDArray[np.float64], labels: NDArray[np.intp], l2: float) -> float:
    """Where scikit-learn's classifier of one feature changes its mind."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    fitted = linear_model.LogisticRegression(
        C=2 / (len(labels) * l2), tol=1e-9, max_iter=10_000
    ).fit(features, labels)
    return float(-fitted.intercept_[0] / fitted.coef_[0, 0])
