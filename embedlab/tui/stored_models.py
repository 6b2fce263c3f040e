"""The models with pair scores on disk: finished runs, and other models in the cache folder."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import inf
from pathlib import Path

import polars as pl

from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.names import DEFAULT_TASK
from embedlab.core.settings import Settings
from embedlab.data.marks import UNKNOWN_TEXT
from embedlab.runs.outcomes import OutcomeFacts, stored_facts
from embedlab.runs.store import RunFolder, find_runs
from embedlab.tui.pair_scores import stored_similarities

_LOOKED_AT = 40  # models; the first start does not read the scores of every cell of every grid
_UNUSABLE = -1.0  # less than any share


@dataclass(frozen=True, kw_only=True)
class StoredModel:
    """A model and the score file of each of its members."""

    name: str
    files: Mapping[str, Path] = field(
        hash=False
    )  # member column → file; empty where the pair table itself holds the scores
    seeds: tuple[int, ...] = ()
    is_text_unknown: bool = False  # embedlab did not train it, and its training text is not stated

    def read(self) -> dict[str, pl.DataFrame]:
        """The scores of each member; an unusable file is a MissingError that names it."""
        return {member: stored_similarities(path.parents[1]) for member, path in self.files.items()}


WORD_OVERLAP = StoredModel(name="dice", files={})  # a column of every pair table
# the same model on the items of other tasks, where what it answers is not the overlap of both
# sentences
OVERLAP_OF_ITEMS = "dice-answers"


def stored_models(settings: Settings) -> tuple[list[StoredModel], list[EmbedlabError]]:
    """Every model with scores, runs first and plain word overlap last, and the errors of those that
    cannot be used.
    """
    runs, troubles = _scored_runs(settings.runs)
    models = [
        StoredModel(
            name=name,
            files={run.id: run.evaluations / DEFAULT_TASK for run in seeds},
            seeds=tuple(run.seed for run in seeds),
        )
        for name, seeds in (
            (name, list(seeds)) for name, seeds in groupby(runs, key=lambda run: run.name)
        )
    ]
    cached, more = _cached(settings.cache / "models")
    names = {model.name for model in models}
    others = [model for model in cached if model.name not in {*names, WORD_OVERLAP.name}]
    return [*models, *others, WORD_OVERLAP], [*troubles, *more]


def _scored_runs(folder: Path) -> tuple[list[RunFolder], list[EmbedlabError]]:
    """The runs with scores, and the errors of unreadable runs."""
    folders: list[RunFolder] = []
    troubles: list[EmbedlabError] = []
    try:
        runs = find_runs(folder)
    except EmbedlabError as error:
        return [], [error]
    for run in runs:
        try:
            folders += [run] if (run.evaluations / DEFAULT_TASK).is_dir() else []
        except OSError as error:
            troubles.append(
                MissingError(
                    f"cannot read the run {run.id!r}: {error.strerror}",
                    hint=f"check the permissions of {run.path}",
                )
            )
    return folders, troubles


def oldest_run(models: Sequence[StoredModel], names: Collection[str]) -> str | None:
    """The model among NAMES whose first run began first; None without any run."""
    begun = {
        model.name: min(map(_begun, model.files.values()), default=inf)
        for model in models
        if model.name in names
    }
    oldest = min(begun, key=lambda name: begun[name], default=None)
    return oldest if oldest is not None and begun[oldest] < inf else None


def _begun(scores: Path) -> float:
    """When the run of a score file began: its recipe is written first, and never again; infinity
    where there is no run.
    """
    try:
        return RunFolder(scores.parents[1]).recipe_file.stat().st_mtime
    except OSError:
        return inf


def best_covering(
    models: Sequence[StoredModel], pair_keys: pl.Series, limit: int
) -> list[StoredModel]:
    """Return at most LIMIT of MODELS, none that has scored no pair: those with scores for most
    first, ties in their order.
    """
    candidates = [model for model in models if model.files][:_LOOKED_AT]
    covering = [
        (coverage, model) for model in candidates if (coverage := _coverage(model, pair_keys))
    ]
    chosen = (
        covering
        if len(covering) <= limit
        else sorted(covering, key=lambda entry: -entry[0])[:limit]
    )
    return [model for _, model in chosen]


def _coverage(model: StoredModel, pair_keys: pl.Series) -> float:
    """Return the share of the pairs with a score of every member; -1 where a file is unusable,
    which is reported when it is read.
    """
    try:
        scored = [frame["pair_key"] for frame in model.read().values()]
    except EmbedlabError:
        return _UNUSABLE
    return min(
        (float(pair_keys.is_in(keys.implode()).mean() or 0.0) for keys in scored),  # type: ignore[arg-type]
        default=0.0,
    )


def one_seed(models: Sequence[StoredModel], name: str) -> StoredModel | None:
    """The seed that NAME, such as "sbert@2", means among the runs of MODELS."""
    run, _, seed = name.rpartition("@")
    stored_model = next(
        (model for model in models if model.name == run and len(model.seeds) == len(model.files)),
        None,
    )
    if stored_model is None or seed not in map(str, stored_model.seeds):
        return None
    member, path = list(stored_model.files.items())[
        [str(seed) for seed in stored_model.seeds].index(seed)
    ]
    return StoredModel(name=name, files={member: path}, seeds=(int(seed),))


def find_model(name: str, settings: Settings) -> StoredModel | None:
    """The model with the typed NAME if all its members have scores; an unknown name is a
    UsageError.
    """
    from embedlab.encoders.stored_scores import ScorePlace
    from embedlab.models.catalog import resolve

    members = resolve(name, settings.runs).members
    files = {
        spec.name: ScorePlace.of(spec, settings).evaluations / DEFAULT_TASK for spec in members
    }
    seeds = tuple(spec.seed for spec in members if spec.seed is not None)
    if not all(path.exists() for path in files.values()):
        return None
    return StoredModel(
        name=name,
        files=files,
        seeds=seeds,
        is_text_unknown=any(map(_is_text_unknown, files.values())),
    )


def _is_text_unknown(path: Path) -> bool:
    facts = _facts(path)
    return facts is not None and UNKNOWN_TEXT in facts.marks


def _facts(path: Path) -> OutcomeFacts | None:
    return next((facts for facts in stored_facts(path)), None)


def _cached(folder: Path) -> tuple[list[StoredModel], list[EmbedlabError]]:
    """The score files of a cache folder as models; the newer of two files with one name counts."""
    models: dict[str, StoredModel] = {}
    troubles: list[EmbedlabError] = []
    try:
        files = sorted(
            folder.glob(f"*/evaluations/{DEFAULT_TASK}"), key=lambda path: path.stat().st_mtime
        )
    except OSError as error:
        return [], [
            MissingError(
                f"cannot read the scores in {str(folder)!r}: {error.strerror}",
                hint="check its permissions",
            )
        ]
    for path in files:
        if (facts := _facts(path)) is not None:
            models[facts.model] = StoredModel(
                name=facts.model,
                files={facts.model: path},
                is_text_unknown=UNKNOWN_TEXT in facts.marks,
            )
    return [model for _, model in sorted(models.items())], troubles
