"""The protocols against one slow fit after the other, in settings that are written down here from FACTS."""

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
            schedule=FitSchedule(optimiser="adam", lr=1e-3, batch=64, tenacity=5, passes_per_check=4, max_passes=200),
            l2=L2,
        ),
        "prototyping": Setting(
            name="prototyping",
            folds=5,
            schedule=FitSchedule(optimiser="rmsprop", lr=1e-2, batch=128, tenacity=3, passes_per_check=2, max_passes=200),
            l2=L2,
        ),
        "exact": Setting(name="exact", folds=10, schedule=None, l2=L2),
    }
)
TRAINED: tuple[SettingName, ...] = ("literature", "prototyping")
ROWS = np.roll(np.arange(60), 6)
WAYS: Mapping[str, Callable[[Any], Any]] = MappingProxyType(  # of the real protocol and of the slow one
    {
        "nested folds": lambda protocol: protocol.cross_validate(),
        "folds of the train rows": lambda protocol: protocol.tune_by_folds(np.arange(42), np.arange(42, 60)),
        "given dev rows": lambda protocol: protocol.tune_by_dev(ROWS[:30], ROWS[30:45], ROWS[45:]),
    }
)


def clouds() -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """60 rows so close to the origin that the L2 decides; float64, so that no prediction hangs on a rounding."""
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 3
    return 0.1 * (rng.normal(size=(60, 30)) + rng.normal(size=(3, 30))[labels]), labels


def both(setting: SettingName) -> tuple[Protocol, SlowProtocol]:
    """The real protocol in its own setting, the slow one in the expected one, both with three folds."""
    features, labels = clouds()
    real = Protocol(problem=Problem.of(features, labels), setting=replace(SETTINGS[setting], folds=3), seed=5)
    return real, SlowProtocol(torch.from_numpy(features), labels, replace(EXPECTED[setting], folds=3), seed=5)


def test_the_settings_are_those_of_the_literature() -> None:
    assert SETTINGS == EXPECTED


def test_five_of_a_hundred_rows_are_held_back() -> None:
    assert HELD_BACK == slow_protocol.HELD_BACK == 0.05


@pytest.mark.parametrize("setting", TRAINED)
@pytest.mark.parametrize("way", WAYS)
def test_each_way_chooses_and_predicts_as_one_slow_fit_after_the_other(way: str, setting: SettingName) -> None:
    real, slow = both(setting)
    outcome, expected = WAYS[way](real), WAYS[way](slow)
    assert outcome.l2 == expected.l2
    assert outcome.predicted.tolist() == expected.predicted.tolist()
    assert outcome.accuracy == pytest.approx(expected.right / len(expected.predicted))


@pytest.mark.parametrize("way", WAYS)
def test_the_rows_are_such_that_not_always_the_first_l2_is_chosen(way: str) -> None:
    assert {l2 for setting in TRAINED for l2 in WAYS[way](both(setting)[0]).l2} > {L2[0]}
