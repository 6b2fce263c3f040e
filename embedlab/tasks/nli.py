"""The task `nli`: whether the head that a run trained on premise and hypothesis agrees with
people's labels of a pair.

Accuracy on the held-out splits of SNLI, MultiNLI (matched and mismatched) and counterfactually
revised SNLI, or on a file of one's own labelled pairs. A model without such a head is refused:
`contrast` measures entailment by its vectors alone.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING

import polars as pl

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.recipe import Recipe
from embedlab.core.session import ProgressCallback, StartProgress
from embedlab.core.settings import Settings
from embedlab.data.dataset import NLI_LABELS, Part
from embedlab.data.own_columns import LABELLED, own_data
from embedlab.data.own_files import GOLD_OF_LABEL, open_pair_file
from embedlab.data.source import Source, dataset, open_available
from embedlab.models.catalog import ModelSpec
from embedlab.objectives.needs import objective_needs
from embedlab.tasks._heads import load_trained, run_of
from embedlab.tasks.task import (
    GoldItems,
    Selection,
    Task,
    TaskResult,
    Texts,
    evaluation_of,
    outcomes_of,
    part_items,
    part_texts,
    skipped_notes,
)

if TYPE_CHECKING:
    from embedlab.objectives.objective import TrainedEncoder

SOURCES: Mapping[str, tuple[str, str]] = MappingProxyType(  # the corpus and its split
    {
        "nli-snli": ("snli", "test"),
        "nli-snli-dev": ("snli", "dev"),
        "nli-matched": ("multinli", "dev-matched"),
        "nli-mismatched": ("multinli", "dev-mismatched"),
        "nli-counterfactual": ("snli-counterfactual", "test"),
    }
)
# before the path of a file of labelled pairs, which otherwise are pairs whose labels are scores
PREFIX = "nli:"
_SIDES = {"premise": "sentence1", "hypothesis": "sentence2"}
_HINT = (
    "train one: embedlab train sbert, or snli-ce; `--task contrast` measures entailment "
    "without a head"
)


class Nli(Task):
    """Labels of premise and hypothesis, predicted by the head of a run."""

    name = "nli"
    summary = (
        "natural language inference by the head of a run: accuracy on held-out SNLI, "
        "MultiNLI, revised SNLI or your own labelled pairs"
    )
    datasets = tuple(SOURCES)
    item_datasets = tuple(SOURCES)

    def has_dataset(self, name: str) -> bool:
        """Return whether NAME is one of its datasets, or a user's own file of labelled pairs."""
        return name in self.datasets or name.startswith(PREFIX)

    def texts(self, source: Source, selection: Selection) -> Texts:
        """Return the sentences of the selected pairs."""
        return part_texts(*_open_parts(source, selection.names or self.datasets))

    def items(self, source: Source, names: Sequence[str]) -> list[GoldItems]:
        """Return the pairs of the datasets in NAMES."""
        return [part_items(part, part.frame["label"]) for part in _open_parts(source, names)[0]]

    def check(self, spec: ModelSpec, settings: Settings) -> None:
        """Refuse a model without a head for pairs; nothing is loaded."""
        if spec.kind != "run":
            raise UsageError(
                f"{spec.name!r} is not a run: nli scores the head that a run was trained with",
                hint=_HINT,
            )
        _headed_stage(run_of(spec).recipe(), f"run {spec.name!r}")

    def check_recipe(self, recipe: Recipe, source: Source) -> None:
        """Refuse the same for the model that RECIPE would train."""
        _headed_stage(recipe, f"recipe {recipe.name!r}")

    def evaluate(
        self,
        spec: ModelSpec,
        settings: Settings,
        start_progress: StartProgress,
        selection: Selection,
    ) -> TaskResult:
        """Return the labels that a run's head gives to the selected pairs."""
        parts, missing_errors = _open_parts(
            Source.from_settings(settings), selection.names or self.datasets
        )
        stage = _headed_stage(run_of(spec).recipe(), f"run {spec.name!r}")
        trained = load_trained(spec, settings)
        predicted = [
            predicted_labels(trained, stage, part.frame, start_progress(part.state.name))
            for part in parts
        ]
        notes = [*map(confusion_note, parts, predicted), *skipped_notes(missing_errors)]
        evaluation = evaluation_of(
            self.name, trained.encoder, [part.state for part in parts], notes=notes
        )
        outcomes = [
            outcomes_of(evaluation, part, part.frame["label"].to_list(), labels)
            for part, labels in zip(parts, predicted, strict=True)
        ]
        return TaskResult(
            evaluation=evaluation,
            missing=tuple(missing_errors),
            tested=tuple(parts),
            outcomes=tuple(outcomes),
        )


def predicted_labels(
    trained: "TrainedEncoder", stage: int, frame: pl.DataFrame, progress: ProgressCallback | None
) -> list[str]:
    """Return the label that the head of STAGE gives to each pair; of equal logits the first label
    wins.
    """
    import torch

    sentences = list(chain(*(frame[name].to_list() for name in _SIDES.values())))
    vectors = torch.from_numpy(trained.encoder.encode(sentences, progress))
    head = trained.objectives[stage]
    device = next(head.parameters()).device
    with torch.inference_mode():
        logits = head.pair_logits(*(side.to(device) for side in vectors.split(frame.height)))  # type: ignore[operator]
    return [NLI_LABELS[index] for index in logits.argmax(dim=1).tolist()]


def confusion_note(part: Part, predicted: Sequence[str]) -> str:
    """Return how many pairs of each label got which one, in words."""
    counts = Counter(zip(part.frame["label"], predicted, strict=True))
    rows = (
        f"{gold} {'/'.join(str(counts[gold, answer]) for answer in NLI_LABELS)}"
        for gold in NLI_LABELS
    )
    return (
        f"{part.state.name}: human label, then how many the head called "
        f"{'/'.join(NLI_LABELS)}: {', '.join(rows)}"
    )


def _headed_stage(recipe: Recipe, title: str) -> int:
    """Return the last stage of RECIPE whose objective trains a head that says one of the three
    labels of a pair.
    """
    for index, stage in reversed(list(enumerate(recipe.stages))):
        if not stage.objective.is_loaded:
            continue
        needs = objective_needs(stage.objective)
        if needs.predicts is not None and needs.classes.get(needs.predicts) == NLI_LABELS:
            return index
    raise UsageError(
        f"{title} trained no head that labels pairs as {', '.join(NLI_LABELS)}", hint=_HINT
    )


def _open_parts(source: Source, names: Sequence[str]) -> tuple[list[Part], list[MissingError]]:
    return open_available(
        names,
        lambda name: _open_file(name) if name.startswith(PREFIX) else _open_corpus(source, name),
    )


def _open_corpus(source: Source, name: str) -> Part:
    part = source.open_split(dataset(SOURCES[name][0]), SOURCES[name][1])
    # the name says which of two dev splits
    state = replace(part.state, name=name, split=part.state.split.partition("-")[0])
    return Part(frame=part.frame.rename(_SIDES), state=state)


def _open_file(name: str) -> Part:
    """Return the labelled pairs of a user's own file."""
    file = name.removeprefix(PREFIX)
    if (data := own_data(file)).kind != LABELLED:
        hint = f"its label column holds {', '.join(NLI_LABELS)}: '{file}?label=NAME'"
        raise MissingError(
            f"{data.file.path} holds {data.kind.title}, not labelled pairs", hint=hint
        )
    part = open_pair_file(file)  # of labels it makes scores, each label one
    labels = part.frame["gold"].replace_strict(
        {gold: label for label, gold in GOLD_OF_LABEL.items()}, return_dtype=pl.String
    )
    return Part(
        frame=part.frame.drop("gold").with_columns(label=labels),
        state=replace(part.state, name=f"{PREFIX}{part.state.name}"),
    )


TASK = Nli()
