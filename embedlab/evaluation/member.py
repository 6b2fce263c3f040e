"""What a task's `judge` gives: one member model's evaluation, and the errors of what was missing for it.

Every task file but sts, whose scores of pairs are kept and shared, has `judge(spec, settings, watches)`; it is found by the file's
name. That of a task with several datasets takes the names of those that are wanted as a fourth argument.
"""

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embedlab.choices import SettingName
from embedlab.core.errors import MissingError
from embedlab.core.settings import Settings
from embedlab.data.dataset import Part, State
from embedlab.data.shared_text import NOTHING_SHARED, Overlap, total
from embedlab.encoders.encoder import Encoder, PairScorer, Watch
from embedlab.evaluation.provenance import OVERLAP, evaluation_marks, overlap_notes, training_marks, training_notes, training_precision
from embedlab.evaluation.training_text import learnt
from embedlab.models.catalog import ModelSpec
from embedlab.models.shape import backends, vector_length
from embedlab.runs.evaluations import Evaluation, Score
from embedlab.runs.outcomes import Outcomes

if TYPE_CHECKING:
    import torch

Watches = Callable[[str], Watch]


@dataclass(frozen=True, kw_only=True)
class Judged:
    """An evaluation; what was missing was left out of it."""

    evaluation: Evaluation
    missing: tuple[MissingError, ...] = ()
    tested: tuple[Part, ...] = ()  # whose rows were scored: to be compared with what the model learnt from
    outcomes: tuple[Outcomes, ...] = ()  # of tasks that classify
    averages: Mapping[str, Sequence[str]] = field(default_factory=dict)  # the datasets of each average, by the name it begins with

    def keep(self, folder: Path, name: str | None = None) -> None:
        """Write the outcomes, and then the evaluation under its task's or another NAME, to a member's FOLDER of evaluations."""
        for outcomes in self.outcomes:
            outcomes.save(folder)
        self.evaluation.save(folder, name)


def evaluation_of(
    task: str, encoder: PairScorer, states: Sequence[State], scores: Sequence[Score], notes: Sequence[str] = ()
) -> Evaluation:
    """The SCORES of a task with everything that decides them; NOTES are told after the encoder's own."""
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
        marks=evaluation_marks(states),
        notes=(*facts.notes, *notes),
        scores=tuple(scores),
    )


def load_member(spec: ModelSpec, settings: Settings) -> tuple[Encoder, "torch.device"]:
    """The encoder of a member model, with the cache and on the machine that SETTINGS ask for, and that machine's device."""
    # Only here is torch needed: what a task reads, and what is kept of it, is told without.
    from embedlab.encoders.device import machine
    from embedlab.encoders.loading import load_encoder

    here = machine(settings)
    return load_encoder(spec, here, cache=settings.cache, cache_gib=settings.cache_gib, offline=settings.offline), here.device


def judge(
    task: str, spec: ModelSpec, settings: Settings, watches: Watches, names: Sequence[str] = (), setting: SettingName = "literature"
) -> Judged:
    """Evaluate one member model on the task in the file of that name, or on those of its datasets that NAMES tells.

    SETTING is for the tasks that train classifiers on vectors.
    """
    judge_task = importlib.import_module(f"embedlab.tasks.{task}").judge
    options: dict[str, object] = {"names": names} if names else {}
    if takes(task, "setting"):
        options["setting"] = setting
    judged = judge_task(spec, settings, watches, **options)
    assert isinstance(judged, Judged)
    return marked(judged, spec, settings)


def takes(task: str, option: str) -> bool:
    """Whether a task can judge some of its datasets by their "names", or trains classifiers in a "setting"."""
    module = importlib.import_module(f"embedlab.tasks.{task}")
    return task != "sts" and option in inspect.signature(module.judge).parameters


def setting_of(task: str, setting: SettingName) -> SettingName:
    """The SETTING that a task is evaluated in: literature's, which goes without saying, where it has none."""
    return setting if takes(task, "setting") else "literature"


def marked(judged: Judged, spec: ModelSpec, settings: Settings) -> Judged:
    """The same with what the model's training data says of its numbers: marks, notes and shared text."""
    known, evaluation = learnt(spec, settings), judged.evaluation
    found = [(part.state.name, known.text.overlap(part.frame)) for part in judged.tested] if known.text is not None else []
    # Both validation splits of MNLI are called mnli.
    totals = {name: total(counts for other, counts in found if other == name) for name, _ in found}
    shared = {name: counts for name, counts in totals.items() if counts}
    trained, notes = training_marks(spec), (*training_notes(spec), *known.notes)
    marks = {*evaluation.marks, *trained, *((OVERLAP,) if shared else ())}
    return replace(
        judged,
        evaluation=replace(
            evaluation,
            marks=tuple(sorted(marks)),
            notes=(*evaluation.notes, *notes, *overlap_notes(shared)),
            overlaps={**shared, **_averages(judged, shared)},
            **known_of(spec),
        ),
        outcomes=tuple(
            replace(one, marks=tuple(sorted({*one.marks, *trained})), notes=notes, overlap=shared.get(one.dataset, NOTHING_SHARED))
            for one in judged.outcomes
        ),
    )


def with_training(evaluation: Evaluation, spec: ModelSpec) -> Evaluation:
    """An EVALUATION that was stored earlier with what is known of the training of SPEC now."""
    return replace(
        evaluation,
        marks=tuple(sorted({*evaluation.marks, *training_marks(spec)})),
        notes=tuple(dict.fromkeys([*evaluation.notes, *training_notes(spec)])),
        **known_of(spec),
    )


def known_of(spec: ModelSpec) -> dict[str, Any]:
    """What an evaluation says of SPEC that can be told without loading it."""
    return {
        "seed": spec.seed,
        "dims": vector_length(spec),
        "backend": backends(spec),
        "training_precision": training_precision(spec),
    }


def _averages(judged: Judged, shared: Mapping[str, Overlap]) -> dict[str, Overlap]:
    """What the datasets of each average share, for those where any does."""
    found = {
        score.slice: total(shared[name] for name in members if name in shared)
        for score in judged.evaluation.scores
        for average, members in judged.averages.items()
        if score.by == "average" and score.slice.startswith(average)
    }
    return {name: counts for name, counts in found.items() if counts}
