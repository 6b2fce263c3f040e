"""The settings in which a task's classifiers are trained."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from embedlab.choices import SettingName


@dataclass(frozen=True, kw_only=True)
class FitSchedule:
    """How fits are trained."""

    optimiser: Literal["adam", "rmsprop"]
    lr: float
    batch: int
    tenacity: int  # non-improving checks, counted in total, that are endured
    passes_per_check: int
    # SentEval's loop makes one check more, after 204; MiniLM's accuracies on MRPC are the same with
    # it
    max_passes: int = 200


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How classifiers are trained; without a schedule they are solved to their optimum."""

    name: SettingName
    folds: int
    schedule: FitSchedule | None
    l2: tuple[float, ...] = (1e-5, 1e-4, 1e-3, 1e-2)


SETTINGS: Mapping[SettingName, Setting] = MappingProxyType(
    {
        "literature": Setting(
            name="literature",
            folds=10,
            schedule=FitSchedule(
                optimiser="adam", lr=1e-3, batch=64, tenacity=5, passes_per_check=4
            ),
        ),
        # The rate is torch's own for RMSprop, which SentEval takes.
        "prototyping": Setting(
            name="prototyping",
            folds=5,
            schedule=FitSchedule(
                optimiser="rmsprop", lr=1e-2, batch=128, tenacity=3, passes_per_check=2
            ),
        ),
        "exact": Setting(name="exact", folds=10, schedule=None),
    }
)
