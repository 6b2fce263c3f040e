"""STS results as files that mteb reads: FOLDER/<model>/<fingerprint>/<task>.json, the layout of
`results` in its result cache.

<model> is `owner__name` of a hub model and otherwise the last part of its path, so that no folder
is hidden or needs quotes in a shell.

Their mteb_version is null, because mteb measured nothing here; `evaluated_with` names embedlab.
SICK-R is not written: mteb's has all 9,927 pairs, the papers' the 4,927 of the test split.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from math import isnan
from pathlib import Path
from typing import Any

from embedlab.core.disk import write_atomic
from embedlab.core.errors import UsageError
from embedlab.core.plugins import shipped_names
from embedlab.data.published import OFFICIAL_FOLDER
from embedlab.data.source import dataset
from embedlab.models.grammar import title_of
from embedlab.runs.evaluations import Evaluation


@cache
def mteb_tasks() -> Mapping[str, str]:
    """Return what mteb calls the shipped datasets whose test pairs it scores too."""
    return {name: task for name in shipped_names("datasets") if (task := dataset(name).mteb)}


# What mteb 2.26 requires of a model_meta.json, and nothing here states.
_UNSTATED = (
    *("loader", "release_date", "languages", "n_parameters", "memory_usage_mb", "max_tokens"),
    *("embed_dim", "license", "open_weights", "public_training_code", "public_training_data"),
    *("reference", "similarity_fn_name", "use_instructions", "training_datasets"),
)


def write_mteb(folder: Path, evaluation: Evaluation) -> list[Path]:
    """Write one file a dataset of an sts EVALUATION, and the model_meta.json next to them; return
    their paths.

    Generated or partial data, SentEval's tokenised text, and datasets that mteb lacks are refused:
    a file with mteb's name would claim what it does not hold. An undefined correlation is refused
    too. A refusal leaves no file.
    """
    states = {
        str(state["name"]): state for state in evaluation.data if state.get("split") == "test"
    }
    if not states.keys() & mteb_tasks().keys():
        raise UsageError(
            f"none of {', '.join(states) or 'the datasets'} is a task of mteb",
            hint=f"those are {', '.join(mteb_tasks())}",
        )
    results = {
        name: _result(evaluation, name, state)
        for name, state in states.items()
        if name in mteb_tasks()
    }
    path = folder / visible_name(evaluation.model) / evaluation.fingerprint
    meta: dict[str, Any] = {
        **dict.fromkeys(_UNSTATED),
        "name": f"embedlab/{visible_name(evaluation.model)}",  # mteb wants an owner
        "revision": evaluation.fingerprint,
        "framework": [],
        "modalities": ["text"],
        "model_type": ["dense"],
        "loader_kwargs": {},
    }
    return [
        _write(path / "model_meta.json", meta),
        *(_write(path / f"{mteb_tasks()[name]}.json", result) for name, result in results.items()),
    ]


def visible_name(model: str) -> str:
    """Return the name of a MODEL's folder."""
    title = title_of(model).replace("/", "__")
    return re.sub(r"[^\w.@+=-]+", "_", title).strip("._") or "model"


def _result(evaluation: Evaluation, name: str, state: Mapping[str, Any]) -> dict[str, Any]:
    _refuse_other_data(name, state)
    hub = dataset(name).splits["test"].hub
    assert hub is not None  # every dataset that mteb has is on the hub
    values = {
        score.metric: score.value
        for score in evaluation.scores
        if (score.by, score.slice, score.setting) == ("dataset", name, "all")
    }
    if undefined := [metric for metric, value in values.items() if isnan(value)]:
        # mteb cannot average a null, and JSON has no nan.
        raise UsageError(
            f"the {undefined[0]} of {evaluation.model!r} on {name} is undefined: mteb has no "
            f"place for it",
            hint="remove --mteb",
        )
    scores = {
        f"{prefix}{metric}": round(values[metric], 6)
        for prefix in ("", "cosine_")
        for metric in ("pearson", "spearman")
    }
    main = {
        "main_score": scores["cosine_spearman"],
        "hf_subset": "default",
        "languages": ["eng-Latn"],
    }
    return {
        "dataset_revision": hub.revision,
        "task_name": mteb_tasks()[name],
        "mteb_version": None,
        "scores": {"test": [{**scores, **main}]},
        "evaluation_time": None,
        "evaluated_with": f"embedlab {evaluation.embedlab}",
        "data": {key: state.get(key) for key in ("origin", "rows", "revision", "sha256")},
    }


def _refuse_other_data(name: str, state: Mapping[str, Any]) -> None:
    """Refuse data that differs from mteb's revision of a dataset, which has the official text."""
    if state.get("partial") or state.get("origin") == "tiny":
        raise UsageError(
            f"{name} is not a complete corpus: mteb's {mteb_tasks()[name]} is",
            hint="remove --mteb, or give --data DIR",
        )
    if other_name := next(
        (file for file in state.get("sha256", {}) if not file.startswith(f"{OFFICIAL_FOLDER}/")),
        None,
    ):
        raise UsageError(
            f"{name} was read from {other_name!r}, which is not the text of mteb's "
            f"{mteb_tasks()[name]}",
            hint=f"put the official files into the folder {OFFICIAL_FOLDER} of the data folder, "
            f"or remove --mteb",
        )


def _write(path: Path, content: Mapping[str, Any]) -> Path:
    write_atomic(
        path,
        json.dumps(content, indent=2, ensure_ascii=False) + "\n",
        hint="choose another folder with --mteb",
    )
    return path
