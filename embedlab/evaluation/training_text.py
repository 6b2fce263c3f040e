"""The text that a model learnt from: of its runs, and of the runs that these started from."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.settings import Settings
from embedlab.data.overlaps import KnownText
from embedlab.data.source import Source
from embedlab.models.catalog import ModelSpec, resolve
from embedlab.runs.store import RunFolder
from embedlab.training.stage_data import open_stages

TRAINING = "training"  # the folder in an exported model that keeps what its marks need; the hub's models bring it along


@dataclass(frozen=True, kw_only=True)
class TrainingText:
    """What is known of a model's training text."""

    text: KnownText | None = None  # None: no run is known to be behind the model
    notes: tuple[str, ...] = ()  # what could not be counted


def training_text(spec: ModelSpec, settings: Settings) -> TrainingText:
    """The training text of a model, kept with its runs; of a run that has not kept it, read again from the data and kept.

    A run whose training data is not at hand, or has changed since, is not counted, and a note says so.
    """
    texts, notes = [], []
    for run in lineage(spec):
        try:
            texts.append(_known(run, settings))
        except EmbedlabError as error:
            notes.append(f"what {run.id} shares with test sets is not counted: {error.message}")
    return TrainingText(text=reduce(or_, texts) if texts else None, notes=tuple(notes))


def store_lineage(spec: ModelSpec, folder: Path, settings: Settings) -> None:
    """Put into the model folder FOLDER what its marks need of the runs behind SPEC, so that it outlives them."""
    for number, run in enumerate(lineage(spec), start=1):  # two runs of different folders may have one name
        stored = RunFolder(folder / TRAINING / str(number) / run.name / run.path.name)
        # Who trained it, and how it was typed, is nobody's business where the folder goes.
        stored.write_once(run.recipe(), replace(run.environment(), command=(), host=""))
        with suppress(EmbedlabError):  # what cannot be counted is told when the model is scored
            _known(run, settings).write(stored.training_text_file)


def lineage(spec: ModelSpec) -> Iterator[RunFolder]:
    """The runs in a model, each once, with those that they started from."""
    seen: set[Path] = set()
    waiting = [spec]
    while waiting:
        one = waiting.pop(0)
        waiting += one.parts
        stored = _stored(one)
        for run in stored or _own(one):
            if run.path.resolve() not in seen:
                seen.add(run.path.resolve())
                waiting += starting_models(run) if not stored else ()
                yield run


def runs_in(spec: ModelSpec) -> list[RunFolder]:
    """The run whose model SPEC is, or the runs that an exported model brings along; none where embedlab did not train it."""
    return _stored(spec) or _own(spec)


def _stored(spec: ModelSpec) -> list[RunFolder]:
    """What an exported model keeps of all the runs behind it, in its folder or in what was fetched from the hub."""
    if spec.kind not in {"folder", "hub"}:
        return []
    found = [RunFolder(path) for path in sorted(Path(spec.location).glob(f"{TRAINING}/*/*/seed-*"))]
    return [run for run in found if run.environment_file.is_file()]  # others keep things of their own under that name


def _own(spec: ModelSpec) -> list[RunFolder]:
    """The run whose model SPEC is."""
    folder = Path(spec.location).parent
    is_run = spec.kind == "run" or (spec.kind == "folder" and (folder / "environment.json").is_file())
    return [RunFolder(folder)] if is_run else []


def starting_models(run: RunFolder) -> tuple[ModelSpec, ...]:
    """The model that a run's training started from; of a run with several seeds, that of the same seed."""
    try:
        members = resolve(run.recipe().encoder.model, run.path.parents[1]).members
    except EmbedlabError:  # removed since: nothing can be said of it
        return ()
    return members if len(members) == 1 else tuple(member for member in members if member.seed == run.seed)


def _known(run: RunFolder, settings: Settings) -> KnownText:
    if not run.training_text_file.exists():
        return _count_again(run, settings)
    try:
        return KnownText.read(run.training_text_file)
    except MissingError:
        with suppress(EmbedlabError):  # without its data, the damage is the reason
            return _count_again(run, settings)
        raise


def _count_again(run: RunFolder, settings: Settings) -> KnownText:
    """Read the training text of RUN again, and store it with the run."""
    known = _read_again(run, settings)
    with suppress(MissingError):  # a disk that refuses costs the file, not the count
        known.write(run.training_text_file)
    return known


def _read_again(run: RunFolder, settings: Settings) -> KnownText:
    before = run.environment()
    source = replace(Source.from_settings(settings), sample=before.is_sample, allow_partial=True)
    stages = open_stages(run.recipe(), source, before.seed)
    if [_content(vars(state)) for data in stages for state in data.states] != [_content(part) for part in before.data]:
        raise MissingError("its training data has changed since")
    return KnownText.of(data.rows.frame[data.read] for data in stages)


def _content(part: Mapping[str, Any]) -> tuple[Any, ...]:
    return part["name"], part.get("split"), part.get("rows"), dict(part.get("sha256", {}))
