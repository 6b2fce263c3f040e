"""The task `mteb`: mteb's own tasks, `mteb:NAME`, on any model, with its outcomes item by item
where mteb predicts some.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import replace
from functools import cached_property
from math import nan
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.core.errors import EmbedlabError, MissingError, UsageError, in_one_line
from embedlab.core.session import StartProgress
from embedlab.core.settings import Settings
from embedlab.data.dataset import DatasetState, Part
from embedlab.data.marks import NOTHING_SHARED
from embedlab.data.source import Source
from embedlab.encoders.encoder import Encoder, RefusedTextsError, Vectors
from embedlab.models.catalog import ModelSpec
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.outcomes import StoredOutcomes
from embedlab.tasks._mteb_rows import (
    PREFIX,
    OpenedTask,
    benchmark_tasks,
    mteb_package,
    open_task,
    rows_of,
    silence_mteb,
)
from embedlab.tasks._searchers import RoleEncoders
from embedlab.tasks.task import (
    FilePredictions,
    Selection,
    Task,
    TaskResult,
    Texts,
    evaluation_of,
    load_member,
    outcomes_of,
    score,
)


class MtebEncoder:
    """The encoder of a member model; a typed prompt or role holds for every text, otherwise each
    task has its own.
    """

    def __init__(self, spec: ModelSpec, settings: Settings, start_progress: StartProgress) -> None:
        if spec.is_fitted:
            raise UsageError(
                f"{spec.name!r}: @whiten=fit needs all sentences of a task at once, and mteb "
                f"encodes them in parts",
                hint="@whiten=FILE",
            )
        self._spec, self._settings, self._start_progress = spec, settings, start_progress
        self._by_role = RoleEncoders(spec, lambda role_spec: load_member(role_spec, settings)[0])

    @property
    def encoder(self) -> Encoder:
        """The encoder of texts that have no role."""
        encoder: Encoder = self._by_role.usual  # type: ignore[assignment]
        return encoder

    @property
    def prompt_notes(self) -> list[str]:
        """The notes on prompts that were used."""
        return [*self._by_role.notes]

    @cached_property
    def mteb_model_meta(self) -> Any:
        """What mteb records of the model."""
        from mteb.models.model_meta import ModelMeta

        meta = {
            "name": f"embedlab/{self.encoder.name.replace('/', '__')}",
            "revision": self.encoder.fingerprint,
        }
        return ModelMeta.create_empty(meta)

    def encode(
        self,
        inputs: Iterable[Mapping[str, Any]],
        *,
        task_metadata: Any,
        hf_split: str,
        hf_subset: str,
        prompt_type: Any = None,
        **_: Any,
    ) -> Vectors:
        """One vector a text of all batches in INPUTS."""
        texts = [text for batch in inputs for text in batch["text"]]
        role = getattr(prompt_type, "value", None)
        encoder = self._by_role.of(task_metadata.name, task_metadata.type, role)
        vectors: Vectors = encoder.encode(texts, self._start_progress(f"mteb:{task_metadata.name}"))
        return vectors

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """The similarity of each vector with each other one, as the model states it."""
        from sentence_transformers import SimilarityFunction

        compare = SimilarityFunction.to_similarity_fn(self.encoder.similarity)
        return compare(embeddings1, embeddings2)

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """The similarity of each vector with the vector of the same row, as the model states it."""
        from sentence_transformers import SimilarityFunction

        compare = SimilarityFunction.to_similarity_pairwise_fn(self.encoder.similarity)
        return compare(embeddings1, embeddings2)


_PREDICTED = ("STS", "Classification")  # types of tasks whose predictions are those of single rows
_DECLARED = replace(NOTHING_SHARED, declared=1)


def _given_names(names: Sequence[str]) -> Sequence[str]:
    if not names:
        raise UsageError(
            "no task of mteb was named",
            hint="name one: --task mteb:STS16, or a benchmark: --suite 'mteb:MTEB(eng, v2)'",
        )
    return names


def _evaluate_tasks(
    spec: ModelSpec, settings: Settings, start_progress: StartProgress, opened: Sequence[OpenedTask]
) -> TaskResult:

    encoder = MtebEncoder(spec, settings, start_progress)
    scores: list[StoredScore] = []
    predicted: list[tuple[OpenedTask, Mapping[str, Any]]] = []
    for opened_task in opened:
        readable_task, result, predictions = _run_readable(encoder, opened_task)
        scores += _scores(readable_task, result)
        predicted.append((readable_task, predictions))
    states = [state for task in opened for state in task.states]
    notes = [
        *encoder.prompt_notes,
        *(note for readable_task, _ in predicted for note in readable_task.notes),
    ]
    evaluation = evaluation_of("mteb", encoder.encoder, states, scores, notes)
    outcomes = [
        replace(outcome, notes=readable_task.notes)
        for readable_task, predictions in predicted
        for outcome in _outcomes(readable_task, evaluation, predictions)
    ]
    return TaskResult(evaluation=evaluation, outcomes=tuple(outcomes))


def _run_readable(encoder: Any, opened: OpenedTask) -> tuple[OpenedTask, Any, Mapping[str, Any]]:
    """Return what `_run` does, and the task as the model can read it, without the texts that it
    refuses.
    """
    refused: set[str] = set()
    while True:
        try:
            return opened, *_run(encoder, opened)
        except RefusedTextsError as error:
            count_before = len(refused)
            refused |= {text for text, _ in error.refused}
            if len(refused) == count_before or opened.task.dataset is None:
                raise
            opened = opened.without(refused)
            if any(part.frame.is_empty() and part.frame.width for part in opened.parts.values()):
                raise


def _run(encoder: Any, opened: OpenedTask) -> tuple[Any, Mapping[str, Any]]:
    """Return mteb's result of a task, and what it predicted, by subset and split.

    Each evaluation draws the same samples: those of a task that was just loaded.
    """
    task = copy(opened.task)
    task.rng_state, task.np_rng = deepcopy((task.rng_state, task.np_rng))
    with TemporaryDirectory() as folder, silence_mteb():
        has_predictions = opened.task.metadata.type in _PREDICTED
        try:
            result = mteb_package().evaluate(
                encoder,
                task,
                cache=None,
                co2_tracker=False,
                show_progress_bar=False,
                prediction_folder=folder if has_predictions else None,
            )
        except EmbedlabError:
            raise
        except Exception as error:  # whatever its evaluators raise over rows that do not suit them
            reason = in_one_line(error)
            raise MissingError(
                f"mteb cannot evaluate {opened.name}: {reason}",
                hint="do its rows have what mteb reads?",
            ) from error
        path = Path(folder) / f"{opened.task.metadata.name}_predictions.json"
        predictions = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        return result.task_results[0], predictions


def _scores(opened: OpenedTask, result: Any) -> Iterator[StoredScore]:
    """Yield mteb's main score of each subset and split, then their mean where there are several."""
    values: list[float] = []
    for split, entries in result.scores.items():
        for entry in entries:
            key = (entry["hf_subset"], split)
            if key in opened.parts:
                value = float(entry["main_score"])
                values.append(value)
                yield _score(opened, opened.parts[key].state, value, len(opened.rows(key)))
    if len(values) > 1:
        items = sum(len(opened.rows(key)) for key in opened.parts)
        title = f"{PREFIX}{opened.task.metadata.name}"
        yield score(title, f"mean {opened.main_score}", fmean(values), items, setting="mteb")


def _score(opened: OpenedTask, state: DatasetState, value: float, items: int) -> StoredScore:
    # Outcomes give accuracies and rank correlations; another main score of a task that has outcomes
    # needs a name of its own.
    has_outcomes = opened.task.metadata.type in _PREDICTED
    is_covered = opened.main_score in {"accuracy", "spearman"} or not has_outcomes
    title = state.name if is_covered else f"{state.name} main score"
    return score(title, opened.main_score, value, items, state.split, setting="mteb")


def _outcomes(
    opened: OpenedTask, evaluation: Evaluation, predictions: Mapping[str, Any]
) -> Iterator[StoredOutcomes]:
    for (subset, split), part in opened.parts.items():
        predicted = predictions.get(subset, {}).get(split)
        if isinstance(predicted, dict) and opened.task.metadata.type == "STS":
            is_cosine = str(opened.task.metadata.main_score).startswith("cosine")
            values = predicted["cosine_scores" if is_cosine else "similarity_scores"]
            yield _similarities(evaluation, part, values, opened.rows((subset, split)))
        elif isinstance(predicted, list):
            rows = opened.rows((subset, split))
            if all(len(values) == len(rows) for values in predicted):
                labels = rows_of(opened.task, subset, split)[opened.task.label_column_name]
                yield _classes(evaluation, part, labels, predicted, rows)


def _similarities(
    evaluation: Evaluation, part: Part, values: Sequence[float], rows: NDArray[np.intp]
) -> StoredOutcomes:
    # The split that mteb evaluates is its test, whatever its name; the state has that.
    gold = part.frame["gold"]
    return outcomes_of(evaluation, part, gold, values, is_class=False, split="test", rows=rows)


def _classes(
    evaluation: Evaluation,
    part: Part,
    labels: Sequence[object],
    experiments: Sequence[Sequence[object]],
    numbers: NDArray[np.intp],
) -> StoredOutcomes:
    """Return an item for each row and experiment, because mteb's accuracy is the mean over
    experiments.

    Items of one row have its text, so that they count as dependent.
    """
    gold = [label for _ in experiments for label in labels]
    predicted = [label for experiment in experiments for label in experiment]
    frame = pl.concat([part.frame] * len(experiments))
    rows = [
        number + part.state.rows * experiment_number
        for experiment_number in range(len(experiments))
        for number in numbers
    ]
    repeated = replace(part, frame=frame)
    return outcomes_of(evaluation, repeated, gold, predicted, split="test", rows=rows)


def _from_files(spec: ModelSpec, opened: Sequence[OpenedTask]) -> TaskResult:
    """Return what mteb's own files hold of a model: outcomes of predictions, otherwise stated
    figures.
    """
    score_rows = spec.shipped.score_rows
    assert score_rows is not None
    figures = {figure.task: figure for figure in spec.shipped.figures(spec.location)}
    scores: list[StoredScore] = []
    rows: list[tuple[Part, NDArray[np.float32]]] = []
    notes: list[str] = []
    for opened_task in opened:
        name = opened_task.task.metadata.name
        for part in opened_task.parts.values():
            row_scores = (
                score_rows(spec.location, replace(part, state=replace(part.state, name=name)))
                if part.frame.width
                else None
            )
            if row_scores is not None:
                similar, note = row_scores
                rows.append((part, similar))
                notes.append(note)
            elif (
                stated_figures := figures.get(name)
            ) is not None and stated_figures.split == part.state.split:
                scores.append(
                    _score(
                        opened_task,
                        part.state,
                        stated_figures.figures.get("main_score", nan),
                        part.state.rows,
                    )
                )
                notes.append(
                    f"{stated_figures.origin}: a score that mteb stated, without its items"
                )
    if not rows and not scores:
        raise UsageError(
            f"{spec.name!r} has no scores of {', '.join(task.name for task in opened)}",
            hint="name tasks that it has files of",
        )
    evaluation = evaluation_of(
        "mteb",
        FilePredictions(spec),
        [state for task in opened for state in task.states],
        scores,
        notes,
    )
    outcomes = tuple(
        _similarities(evaluation, part, [float(x) for x in similar], np.arange(part.state.rows))
        for part, similar in rows
    )
    return TaskResult(
        evaluation=evaluation,
        outcomes=outcomes,
        setting="mteb",
    )


def declared_tasks(spec: ModelSpec) -> frozenset[str]:
    """Return the tasks whose datasets, by mteb's registry of models, a published model was trained
    on.
    """
    if spec.kind != "hub":
        return frozenset()
    try:
        with silence_mteb():
            metadata = mteb_package().get_model_meta(spec.location)
            return frozenset(metadata.get_training_datasets() or ())
    except (KeyError, ValueError):
        return frozenset()


class Mteb(Task):
    """Each task of mteb by itself; a benchmark of mteb is a suite of them."""

    name = "mteb"
    summary = "mteb's own tasks, mteb:NAME, and the main score of each"
    is_each_alone = True

    def has_dataset(self, name: str) -> bool:
        """Return whether NAME is written as a task of mteb."""
        return name.startswith(PREFIX)

    def members(self, suite: str) -> Sequence[str]:
        """Return the tasks of the benchmark that `mteb:BENCHMARK` names, or the task where it names
        one.
        """
        return benchmark_tasks(suite.removeprefix(PREFIX)) if suite.startswith(PREFIX) else ()

    def in_all(self, folder: Path | None) -> Sequence[tuple[str, ...]]:
        """Return none: mteb has hundreds."""
        return ()

    def texts(self, source: Source, selection: Selection) -> Texts:
        """Return the rows of the selected tasks; mteb hands their sentences to the model itself."""
        return Texts(
            columns=(),
            states=tuple(
                state
                for name in _given_names(selection.names)
                for state in open_task(name, source).states
            ),
        )

    def evaluate(
        self,
        spec: ModelSpec,
        settings: Settings,
        start_progress: StartProgress,
        selection: Selection,
    ) -> TaskResult:
        """Evaluate the selected tasks by mteb, or read their numbers from what mteb wrote of SPEC
        before.
        """
        opened = [
            open_task(name, Source.from_settings(settings))
            for name in _given_names(selection.names)
        ]
        result = (
            _from_files(spec, opened)
            if spec.shipped.score_rows is not None
            else _evaluate_tasks(spec, settings, start_progress, opened)
        )
        declared = declared_tasks(spec)
        overlaps = {
            part.state.name: _DECLARED
            for task in opened
            for part in task.parts.values()
            if task.task.metadata.name in declared
        }
        return replace(
            result,
            tested=tuple(
                part for task in opened for part in task.parts.values() if part.frame.width
            ),
            evaluation=replace(result.evaluation, overlaps=overlaps),
            outcomes=tuple(
                replace(outcome, overlap=overlaps.get(outcome.dataset, NOTHING_SHARED))
                for outcome in result.outcomes
            ),
        )


TASK = Mteb()
