"""The training text of a model: of its runs, of the runs that these started from, and of the
corpora that the cards or publications of models that embedlab did not train state, as far as these
are at hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.note import Note, kind_of
from embedlab.core.paths import TINY_FOLDER
from embedlab.data.marks import UNKNOWN_TEXT
from embedlab.data.source import Source
from embedlab.models.catalog import ModelSpec, resolve
from embedlab.models.hub import downloaded_folder
from embedlab.outcomes.frame import Outcomes
from embedlab.runs.store import is_model_of_run

if TYPE_CHECKING:
    from embedlab.core.settings import Settings
    from embedlab.data.overlaps import KnownText
    from embedlab.data.stated_corpora import StatedCorpus
    from embedlab.models.catalog import ModelSpec
    from embedlab.outcomes.frame import ItemSlice
    from embedlab.runs.store import RunFolder


def keyed_items(outcomes: Outcomes, items: ItemSlice) -> pl.DataFrame:
    """Return the hashes of the sentences of a slice, to count those in a training text: a column
    for each text that its items have.
    """
    keys, texts = outcomes.text_keys[items.rows], outcomes.sentences[items.rows]
    columns = [
        key
        for key, text in zip(keys.columns, texts.iter_columns(), strict=True)
        if text.null_count() < len(text)
    ]
    return keys.drop_nulls().select(columns)


# folder of an exported model with what its marks need; uploaded with the model to the hub
TRAINING = "training"


@dataclass(frozen=True, kw_only=True)
class TrainingText:
    """What is known about a model's training text."""

    text: KnownText | None = None  # None: nothing is at hand
    notes: tuple[str, ...] = ()  # what is counted, and what could not be
    corpora: tuple[StatedCorpus, ...] = ()  # as the cards of published models state them

    @property
    def counted_corpora(self) -> tuple[str, ...]:
        """The stated corpora that are counted, partial ones with their rows."""
        return tuple(corpus.title for corpus in self.corpora if corpus.text is not None)

    @property
    def absent(self) -> tuple[str, ...]:
        """The stated corpora that are unknown here."""
        return tuple(corpus.name for corpus in self.corpora if corpus.text is None)

    @property
    def lack(self) -> str:
        """What is not known where only some corpora are at hand; empty where none is."""
        if not self.counted_corpora:
            return ""
        count = len(self.counted_corpora)
        stated = len(self.corpora)
        absent = "; the others are unknown" if self.absent else ""
        names = ", ".join(self.counted_corpora)
        return f"its card names {stated} corpora, of which {count} are here: {names}{absent}"


def training_text(spec: ModelSpec, settings: Settings) -> TrainingText:
    """Return the training text of a model, stored with its runs; a run without it reads it from the
    data again and stores it.

    A run whose training data is not available, or has changed since, is not counted, and a note
    says so. Of what a card states the data folder may have some.
    """
    texts = []
    notes: list[Note] = []
    for run in lineage(spec):
        try:
            texts.append(_run_text(run, settings))
            notes += _lost_start_notes(run)
        except EmbedlabError as error:
            notes.append(
                Note(
                    f"what {run.id} shares with test sets is not counted: {error.message}",
                    kind="uncounted text",
                )
            )
    corpora = stated_corpora(spec, settings)
    texts += [corpus.text for corpus in corpora if corpus.text is not None]
    text = TrainingText(text=_join_texts(texts), corpora=corpora)
    lack_notes = [Note(text.lack, kind="detail")] if text.lack else []
    return replace(text, notes=(*notes, *lack_notes))


def total_text(specs: Iterable[ModelSpec], settings: Settings) -> TrainingText:
    """Return the training text of several models together, with notes on what is not counted."""
    training_texts = [training_text(spec, settings) for spec in specs]
    texts = [text.text for text in training_texts if text.text is not None]
    corpora = {corpus.name: corpus for text in training_texts for corpus in text.corpora}
    notes = dict.fromkeys(note for text in training_texts for note in text.notes)
    return TrainingText(
        text=_join_texts(texts),
        notes=tuple(note for note in notes if kind_of(note) == "uncounted text"),
        corpora=tuple(corpora.values()),
    )


def _join_texts(texts: Sequence[KnownText]) -> KnownText | None:
    if not texts:  # most models: nothing of what counts text is imported
        return None
    from embedlab.data.overlaps import KnownText

    return KnownText.union(texts)


def stated_corpora(spec: ModelSpec, settings: Settings) -> tuple[StatedCorpus, ...]:
    """Return what the cards of the published models in SPEC state."""
    folders = [folder for model in foreign_models(spec) if (folder := published_folder(model))]
    if not folders:
        return ()
    from embedlab.data.stated_corpora import card_corpora, open_stated

    names = dict.fromkeys(name for folder in folders for name in card_corpora(folder))
    return tuple(open_stated([*names], Source.from_settings(settings), settings.cache))


def foreign_models(spec: ModelSpec) -> Iterator[ModelSpec]:
    """Yield the models with weights in SPEC, and those that its runs started from, that embedlab
    did not train.
    """
    for part in spec.uncombined:
        if not part.counts_words:
            starts = (start for run in lineage(part) for start in starting_models(run))
            yield from (model for model in (part, *starts) if not runs_in(model))


def published_folder(spec: ModelSpec) -> Path | None:
    """Return the folder of a model, or of its download; None where there is none."""
    if Path(spec.location).is_dir():
        return Path(spec.location)
    return downloaded_folder(spec.location, spec.revision) if spec.is_on_hub else None


def store_lineage(spec: ModelSpec, folder: Path, settings: Settings) -> None:
    """Write what SPEC's marks need of its runs into the model folder FOLDER, so that the marks
    outlive the runs.
    """
    from embedlab.core.recipe import without_folders
    from embedlab.runs.store import RunFolder

    for number, run in enumerate(
        lineage(spec), start=1
    ):  # runs in different folders may have the same name
        stored = RunFolder(folder / TRAINING / str(number) / run.name / run.path.name)
        # The folder may be published: user, host, command and the folders of own files are left
        # out.
        stored.write_once(
            without_folders(run.recipe()), replace(run.environment(), command=(), host="")
        )
        with suppress(EmbedlabError):  # scoring the model reports what cannot be counted
            _run_text(run, settings).write(stored.training_text_file)


def lineage(spec: ModelSpec) -> Iterator[RunFolder]:
    """Yield the runs in a model and those that they started from, each once."""
    seen_paths: set[Path] = set()
    waiting = [spec]
    while waiting:
        model_spec = waiting.pop(0)
        waiting += model_spec.parts
        for run in runs_in(model_spec):
            if run.path.resolve() not in seen_paths:
                seen_paths.add(run.path.resolve())
                # an exported model stores those that its own run started from too
                is_stored = run.path.is_relative_to(model_spec.location)
                waiting += () if is_stored else starting_models(run)
                yield run


def runs_in(spec: ModelSpec) -> list[RunFolder]:
    """Return the run whose model SPEC is, or the runs that an exported model stores, in its folder
    or in its download from the hub; none where embedlab did not train it.
    """
    if not spec.is_transformer:
        return []
    from embedlab.runs.store import RunFolder

    folder = Path(spec.location)
    runs = [] if spec.is_run else sorted(folder.glob(f"{TRAINING}/*/*/seed-*"))
    # other tools use a folder of that name too
    stored = [run for run in map(RunFolder, runs) if run.environment_file.is_file()]
    parent_run = RunFolder(folder.parent)
    has_parent_run = spec.is_run or (not spec.is_on_hub and parent_run.environment_file.is_file())
    return stored or ([parent_run] if has_parent_run else [])


def starting_models(run: RunFolder) -> tuple[ModelSpec, ...]:
    """Return the model that a run's training started from; if that is a run with several seeds, the
    model of the same seed.
    """
    try:
        members = resolve(run.recipe().encoder.model, run.path.parents[1]).members
    except EmbedlabError:  # removed since: nothing is known about it
        return ()
    return (
        members
        if len(members) == 1
        else tuple(member for member in members if member.seed == run.seed)
    )


def store_earlier_text(run: RunFolder, settings: Settings) -> None:
    """Write the training text of the runs that RUN started from beside its own, so that it is
    counted when they are renamed or removed. What is there stays: a run of the same name may be
    another one by now.
    """
    if run.earlier_text_file.exists():
        return
    texts = []
    for earlier_run in (earlier for start in starting_models(run) for earlier in lineage(start)):
        with suppress(EmbedlabError):  # scoring the model reports what cannot be counted
            texts.append(_run_text(earlier_run, settings))
    if (text := _join_texts(texts)) is not None:
        text.write(run.earlier_text_file)


def _lost_start_notes(run: RunFolder) -> Iterator[Note]:
    """Yield a note on a run that RUN started from, where neither it nor its text is there."""
    if run.earlier_text_file.exists():
        return
    start = Path(run.recipe().encoder.model.partition("?")[0])
    if is_model_of_run(start) and not start.is_dir():
        yield Note(
            f"{run.id} started from {start}, which is not there any more: what that shares with "
            "test sets is not counted",
            kind="uncounted text",
        )


def _run_text(run: RunFolder, settings: Settings) -> KnownText:
    text = _own_text(run, settings)
    if run.earlier_text_file.exists():
        from embedlab.data.overlaps import KnownText

        return KnownText.union([text, KnownText.read(run.earlier_text_file)]) or text
    return text


def _own_text(run: RunFolder, settings: Settings) -> KnownText:
    if not run.training_text_file.exists():
        return _count_again(run, settings)
    try:
        from embedlab.data.overlaps import KnownText

        return KnownText.read(run.training_text_file)
    except MissingError:
        with suppress(EmbedlabError):  # without the data, report the damaged file
            return _count_again(run, settings)
        raise


def _count_again(run: RunFolder, settings: Settings) -> KnownText:
    """Read the training text of RUN again, and store it with the run."""
    text = _read_again(run, settings)
    with suppress(MissingError):  # a disk that cannot be written costs the file, not the count
        text.write(run.training_text_file)
    return text


def _read_again(run: RunFolder, settings: Settings) -> KnownText:
    environment = run.environment()
    source = replace(Source.from_settings(settings), allow_partial=True)
    if environment.is_generated:
        source = replace(source, folder=TINY_FOLDER)
    # Imported only here: most runs' training text is stored.
    from embedlab.data.overlaps import KnownText
    from embedlab.training.blocks import open_stages

    stages = open_stages(run.recipe(), source, environment.seed)
    if [_state_identity(vars(state)) for data in stages for state in data.states] != [
        _state_identity(state_form) for state_form in environment.data
    ]:
        raise MissingError("its training data has changed since")
    return KnownText.of(data.rows.frame[data.read] for data in stages)


def _state_identity(state_form: Mapping[str, Any]) -> tuple[Any, ...]:
    return (
        state_form["name"],
        state_form.get("split"),
        state_form.get("rows"),
        dict(state_form.get("sha256", {})),
    )


UNCOUNTED = "what it, or the encoder it started from, was trained on is at most stated"
START_UNKNOWN = Note("its starting encoder's training text is unknown", kind="detail")


def _stated_texts(spec: ModelSpec) -> Iterator[tuple[bool, tuple[str, ...] | None]]:
    """Yield of each model in SPEC that has weights whether embedlab trained it, and its stated
    training text, or that of the encoder that it started from: empty for random weights, None
    where it is unknown.
    """
    for part in spec.uncombined:
        if part.adapter is not None:
            yield False, None  # what an adapter was trained on is not stated by its base
        elif not part.counts_words:
            yield bool(runs_in(part)), _stated_corpora(part)


def is_text_unknown(spec: ModelSpec) -> bool:
    """Return whether SPEC contains a model that embedlab did not train and that states no training
    text.
    """
    return any(text is None and not is_run for is_run, text in _stated_texts(spec))


def is_text_uncounted(spec: ModelSpec) -> bool:
    """Return whether SPEC contains a model that was trained on text that is at most stated, such as
    an encoder that a run of embedlab started from.
    """
    return any(text is None or text for _, text in _stated_texts(spec))


def stated_text_notes(spec: ModelSpec) -> tuple[str, ...]:
    """Return the notes on such text for the numbers of SPEC, without repeats."""
    return tuple(dict.fromkeys(chain.from_iterable(starmap(_notes, _stated_texts(spec)))))


def _notes(is_run: bool, text: tuple[str, ...] | None) -> Iterator[str]:
    if text is None:
        yield START_UNKNOWN if is_run else Note(UNKNOWN_TEXT, kind="unknown text")
    elif text:
        subject = "its starting encoder was" if is_run else "says it was"
        note = f"{subject} trained on {', '.join(text)}"
        yield Note(note, kind="detail" if is_run else "stated text")


def _stated_corpora(spec: ModelSpec) -> tuple[str, ...] | None:
    """Return what the folder of SPEC states, else its catalog entry, else what its runs started
    from.
    """
    if Path(spec.location).is_file():  # a file has nothing beside it that states its text
        return None
    stated_names = _corpora_of_folder(spec)
    if stated_names is not None or spec.training_text is not None:
        return spec.training_text if stated_names is None else stated_names
    # An exported model also holds the runs that its own run started from: the last of them has the
    # first encoder.
    starts = [
        start for run in runs_in(spec)[-1:] for start in starting_models(run)[:1] if start != spec
    ]
    return _stated_corpora(starts[0]) if starts else None


def _corpora_of_folder(spec: ModelSpec) -> tuple[str, ...] | None:
    from embedlab.data.stated_corpora import is_trained_here

    folder = published_folder(spec)
    if folder is None or (not runs_in(spec) and is_trained_here(folder)):
        return None  # a copy of a run's model without its run, which knows what was read
    from embedlab.models.folder import read_statement

    try:
        return read_statement(folder).training_text
    except MissingError:  # damaged: loading it will raise the error
        return None
