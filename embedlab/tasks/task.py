"""The contract of an evaluation task: what it is called, reads and refuses, and what it gives for one model.

Every file of this folder but this one and those that begin with an underscore is a task and has one `TASK`. What a task gives item by
item gets slices, intervals, tests and marks, and a place in comparisons, pages and the dashboard, from the contract alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from embedlab.analysis.influence import ClassMetric
from embedlab.choices import SettingName
from embedlab.core import plugins
from embedlab.core.errors import MissingError
from embedlab.core.plugins import Plugin
from embedlab.core.progress import StartProgress
from embedlab.core.recipe import Recipe
from embedlab.core.settings import Settings
from embedlab.data.dataset import DatasetState, Part
from embedlab.data.marks import data_marks
from embedlab.data.source import Source
from embedlab.encoders.encoder import Encoder, PairScorer
from embedlab.models.catalog import ModelSpec
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.outcomes import Outcomes

if TYPE_CHECKING:
    import torch

    from embedlab.objectives.objective import Trained


@dataclass(frozen=True, kw_only=True, eq=False)
class Texts:
    """What a task reads."""

    columns: tuple[Sequence[str], ...]
    states: tuple[DatasetState, ...]
    missing: tuple[MissingError, ...] = ()  # what could not be read


@dataclass(frozen=True, kw_only=True)
class TaskResult:
    """An evaluation; what was missing was left out of it."""

    evaluation: Evaluation
    missing: tuple[MissingError, ...] = ()
    tested: tuple[Part, ...] = ()  # whose rows were scored: to be compared with what the model was trained on
    outcomes: tuple[Outcomes, ...] = ()  # item by item
    averages: Mapping[str, Sequence[str]] = field(default_factory=dict)  # the datasets of each average, by the name it begins with

    def save(self, folder: Path, name: str | None = None) -> None:
        """Write the outcomes, and then the evaluation under its task's or another NAME, to a member's FOLDER of evaluations."""
        for outcomes in self.outcomes:
            outcomes.save(folder)
        self.evaluation.save(folder, name)


@dataclass(frozen=True, kw_only=True)
class Selection:
    """What of a task is evaluated: some of its datasets, or all where none is named, and how its classifiers are trained."""

    names: tuple[str, ...] = ()
    setting: SettingName = "literature"


def _nothing(*_: object) -> None:
    """A task that refuses nothing more."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """An evaluation task."""

    name: str
    summary: str
    evaluate: (
        Callable[[ModelSpec, Settings, StartProgress, Selection], TaskResult] | None
    )  # one member of a model; None where its outcomes are pairs
    texts: Callable[[Source, Selection], Texts] | None  # None: what it reads depends on the model
    outcomes: Literal["pairs", "items", "none"]  # what is stored beside the scores: similarities, answers, or aggregates only
    has_dataset: Callable[[str], bool] = lambda _: False  # whether a name that a user types is a dataset of it
    datasets: tuple[str, ...] = ()  # those of its suite, in their order
    trains_classifiers: bool = False  # in one of several settings
    has_own_units: bool = False  # its numbers are no shares of 100, and not the better the higher
    metrics: Mapping[str, tuple[ClassMetric, ...]] = field(default_factory=dict)  # of datasets that have others than accuracy
    averages: Callable[[Sequence[str], str], Mapping[str, Sequence[str]]] = lambda _datasets, _name: {}  # of the whole, by title
    check: Callable[[ModelSpec, Settings], None] = _nothing  # refuse a model that it does not apply to
    check_recipe: Callable[[Recipe, Source], None] = _nothing  # refuse a model that a recipe would train
    sets: Callable[[Path | None], Sequence[str]] = lambda _: ()  # other sets of datasets of its kind in a data folder
    has_submission: bool = False  # whether a server scores its test splits, whose labels are kept back
    dev_names: tuple[str, ...] = ()  # what `evaluate.dev` of a recipe may name besides datasets of pairs
    dev_score: "Callable[[Source, str], Callable[[Trained], float]] | None" = None

    @property
    def scores_pairs(self) -> bool:
        """Whether its outcomes are similarities of pairs, which are stored once for all that is made of them."""
        return self.outcomes == "pairs"

    @property
    def is_divisible(self) -> bool:
        """Whether some of its datasets can be evaluated alone."""
        return bool(self.datasets)

    def setting(self, setting: SettingName) -> SettingName:
        """The setting that it is evaluated in: the literature's where it trains no classifiers."""
        return setting if self.trains_classifiers else "literature"


def task(name: str) -> Task:
    """The task called NAME."""
    return _load(plugins.get("tasks", name))


def all_tasks() -> list[Task]:
    """Every task: the shipped ones in the order of their names, then those of plug-ins."""
    return list(plugins.loaded("tasks", _load).values())


def _load(plugin: Plugin) -> Task:
    return plugin.checked(plugin.load(), Task, named=True)


def evaluation_of(
    task: str, encoder: PairScorer, states: Sequence[DatasetState], scores: Sequence[StoredScore], notes: Sequence[str] = ()
) -> Evaluation:
    """The SCORES of a task with everything that decides them; NOTES come after the encoder's own."""
    facts = encoder.facts
    return Evaluation(
        task=task,
        model=encoder.name,
        fingerprint=encoder.fingerprint,
        precision=facts.precision,
        pooling=facts.pooling,
        max_tokens=facts.max_tokens,
        truncated=facts.truncated,
        data=tuple(asdict(state) for state in states),
        marks=data_marks(states),
        notes=(*facts.notes, *notes),
        scores=tuple(scores),
    )


def load_member(spec: ModelSpec, settings: Settings) -> tuple[Encoder, "torch.device"]:
    """The encoder of a member model, with the cache and on the machine that SETTINGS ask for, and that machine's device."""
    # Only here is torch needed: what a task reads, and what is stored of it, is shown without.
    from embedlab.encoders.device import machine
    from embedlab.encoders.loading import load_encoder

    here = machine(settings)
    return load_encoder(spec, here, cache=settings.cache, cache_gib=settings.cache_gib, offline=settings.offline), here.device
