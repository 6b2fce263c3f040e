"""What all rooms show: the chosen models, the items of the shown datasets with what each model got
on them, and where the numbers come from. Without Textual; what reads files belongs into a thread.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from embedlab.analysis.evidence import ModelColumns
from embedlab.core.errors import EmbedlabError
from embedlab.core.names import DEFAULT_TASK, task_names
from embedlab.core.paths import STARTER, STARTER_FOLDER
from embedlab.core.printable import count_text
from embedlab.core.settings import Settings
from embedlab.data.file_name import is_hub_name
from embedlab.data.marks import GENERATED, GENERATED_NOTE
from embedlab.data.published import state_remarks
from embedlab.data.source import Source
from embedlab.encoders.encoder import Vectors, sentence_keys
from embedlab.encoders.score_place import ScorePlace
from embedlab.encoders.vector_cache import EmbeddingCache
from embedlab.models.catalog import ModelSpec, finished_runs, resolve
from embedlab.models.published import PACKAGED, PREFIXED
from embedlab.outcomes.frame import Outcomes
from embedlab.outcomes.stored import open_outcomes
from embedlab.runs.outcomes import OutcomeFacts, stored_facts

DICE = "dice"  # the model of word overlap: its file brings the items
FIRST_MODELS = ("minilm", "wordllama", DICE)
QUICK = ("wordllama", DICE)  # score thousands of pairs a second
Facts = Mapping[str, Sequence[OutcomeFacts]]  # of each member, what is known of its stored files


@dataclass(frozen=True, kw_only=True, eq=False)
class ShownItems:
    """The items of the shown datasets and the chosen models' predictions; a new one replaces it."""

    models: tuple[str, ...] = ()  # as they were chosen, the first is the reference
    columns: tuple[ModelColumns, ...] = ()  # of those with predictions
    outcomes: Outcomes | None = None
    notes: tuple[str, ...] = ()  # what limits the numbers
    errors: tuple[EmbedlabError, ...] = ()
    similarities: Mapping[str, pl.Series] = field(default_factory=dict)  # by model, of its members
    # the first model whose vectors of all these sentences are cached, and these, of length 1
    vectors: Callable[[Sequence[str]], tuple[str, Vectors] | None] = lambda _: None

    @property
    def datasets(self) -> tuple[str, ...]:
        """The shown datasets, in order."""
        return tuple(block.dataset for block in self.outcomes.blocks) if self.outcomes else ()

    @property
    def items(self) -> int:
        """How many items there are."""
        return self.outcomes.rows.height if self.outcomes is not None else 0

    def coverage(self, model: str) -> float:
        """The share of the items that MODEL was scored on."""
        column = self.similarities.get(model)
        return 0.0 if column is None or not len(column) else 1 - column.null_count() / len(column)


def default_task(settings: Settings) -> str:
    """What is shown where nothing else was chosen."""
    return STARTER if settings.data == STARTER_FOLDER else DEFAULT_TASK


def open_shown_items(models: Sequence[str], task: str, settings: Settings) -> ShownItems:
    """Read what is stored of MODELS on TASK, the name of a task or of a dataset."""
    score_places: dict[str, ScorePlace] = {}
    columns: list[ModelColumns] = []
    errors: list[EmbedlabError] = []
    trained: dict[str, ModelSpec] = {}
    for name in dict.fromkeys((*models, DICE)):
        try:
            members = resolve(name, settings.runs).members
            score_places |= {spec.name: ScorePlace.of(spec, settings) for spec in members}
        except EmbedlabError as error:
            errors.append(error)
            continue
        if name in models:
            trained[name] = members[0]
            seeds = tuple(spec.seed for spec in members if spec.seed is not None)
            columns.append(
                ModelColumns(
                    name=name,
                    members=tuple(spec.name for spec in members),
                    seeds=seeds if len(seeds) == len(members) else (),
                    is_published=not any(spec.is_run for spec in members),
                )
            )
    folders = {name: score_place.evaluations for name, score_place in score_places.items()}
    source = Source.from_settings(settings)

    def is_current(stored: OutcomeFacts) -> bool:
        return all(map(source.is_current, stored.data))

    try:
        facts = {
            name: [*filter(is_current, stored_facts(folder))] for name, folder in folders.items()
        }
        tasks, datasets = (
            ((), (task,)) if task not in task_names() else ((task,), _corpora(facts, task))
        )
        outcomes = open_outcomes(
            folders, tasks, datasets, cache=settings.cache, is_shown=is_current
        )
    except EmbedlabError as error:
        errors.append(error)
        outcomes = None
    if outcomes is None:
        return ShownItems(models=tuple(models), errors=tuple(errors))
    outcomes = replace(
        outcomes,
        averages=_averages(outcomes),
        trained=lambda outcomes_shown: _trained_models(outcomes_shown, trained, settings),
    )
    similarities = {model.name: outcomes.mean_prediction(model.members) for model in columns}
    return ShownItems(
        models=tuple(models),
        columns=tuple(
            model
            for model in columns
            if similarities[model.name].null_count() < outcomes.rows.height
        ),
        outcomes=outcomes,
        notes=tuple(dict.fromkeys(_notes(facts, outcomes))),
        errors=tuple(errors),
        similarities=similarities,
        vectors=lambda sentences: _stored_vectors(score_places, sentences, settings.cache),
    )


def _stored_vectors(
    score_places: Mapping[str, ScorePlace], sentences: Sequence[str], cache: Path
) -> tuple[str, Vectors] | None:
    """The first model whose vectors of all SENTENCES are cached, and these, of length 1."""
    keys = sentence_keys(sentences)
    for name, score_place in score_places.items():
        dim = EmbeddingCache.stored_dim(cache, score_place.fingerprint)
        if dim is None:
            continue
        vector_cache = EmbeddingCache(cache, score_place.fingerprint, dim=dim, limit_bytes=0)
        is_cached, vectors, _ = vector_cache.find(keys)
        if is_cached.all():
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            return name, vectors / np.maximum(lengths, 1e-12)
    return None


def _trained_models(
    outcomes: Outcomes, trained: Mapping[str, ModelSpec], settings: Settings
) -> pl.Series:
    """Which models were trained on each item, by the first seed of each; the others read the
    same.
    """
    from embedlab.scoring.task_comparison import trained_column
    from embedlab.scoring.training_text import training_text  # a slow import

    texts = {}
    for name, member in trained.items():
        with suppress(EmbedlabError, OSError):  # the model is gone; its scores are still there
            if (text := training_text(member, settings).text) is not None:
                texts[name] = text
    return trained_column(outcomes.text_keys, texts)


def _corpora(facts: Facts, task: str) -> tuple[str, ...]:
    """The datasets of TASK that were scored, without all of the starter set at once, own rows that
    were opened once, and the splits that single figures ask for.
    """
    names = [
        stored.name
        for member_facts in facts.values()
        for stored in member_facts
        if stored.task == task and "file" not in {state.get("origin") for state in stored.data}
    ]
    whole_names = {
        name
        for name in names
        if name != STARTER and not is_hub_name(name) and not name.endswith((":train", ":dev"))
    }
    order = getattr(_find_task(task), "datasets", ())
    in_order = [name for name in order if name in whole_names]
    # no dataset is called "": none names all
    return (*in_order, *sorted(whole_names.difference(order))) or ("",)


def _find_task(name: str) -> Any:
    """The task called NAME; None for that of a plug-in that is not here any more."""
    from embedlab.tasks.task import task  # a slow import

    with suppress(EmbedlabError):
        return task(name)


def _averages(outcomes: Outcomes) -> Mapping[str, Mapping[str, Sequence[str]]]:
    """The averages over the shown datasets that each suite has, by title."""
    averages = {}
    for suite, name in {block.suite: block.task for block in outcomes.blocks}.items():
        if task := _find_task(name):
            datasets = [block.dataset for block in outcomes.blocks if block.suite == suite]
            averages[suite] = task.averages(datasets, suite)
    return averages


def _notes(facts: Facts, outcomes: Outcomes) -> Iterator[str]:
    """What the files of the shown datasets say of themselves, the weightiest first."""
    shown_names = {block.dataset for block in outcomes.blocks}
    member_facts = [
        (member, stored)
        for member, stored_of_member in facts.items()
        for stored in stored_of_member
        if stored.name in shown_names
    ]
    for _, stored in member_facts:
        if GENERATED in stored.marks:
            yield GENERATED_NOTE
        for state in stored.data:
            yield from state_remarks(state)
            for reason, count in state.get("skipped", {}).items():
                yield f"{stored.name}: {count_text(count, 'rows')} left out, {reason}"
    seen_datasets: dict[str, dict[str, None]] = {}  # by member
    noting_members: dict[str, dict[str, None]] = {}  # by note
    for member, stored in member_facts:
        if stored.overlap.sentences or stored.overlap.pairs:
            seen_datasets.setdefault(member, {})[stored.name] = None
        for note in stored.notes:
            noting_members.setdefault(note, {})[member] = None
    for member, names in seen_datasets.items():
        yield f"{member} was trained on text of {', '.join(names)}"
    for note, members in noting_members.items():
        yield note if len(members) == len(facts) else f"{', '.join(members)}: {note}"


def selectable_models(settings: Settings) -> list[str]:
    """Every model that can be chosen without typing: runs with a model, then what was scored before
    and what packages bring.
    """
    models = [name for name, model in PACKAGED.items() if model.state == "installed"]
    models += [*filter(find_spec, PREFIXED), DICE]  # named as their packages
    with suppress(OSError):
        for folder in (settings.cache / "models").iterdir():
            models += [stored.model for stored in stored_facts(folder / "evaluations")]
    return list(dict.fromkeys((*finished_runs(settings.runs), *sorted(models))))
