"""Similarities that mteb predicted: `mteb:FOLDER` or `mteb:FILE[#DATASET]`, aligned with the rows
of a dataset by their order.

Without text nothing in a file says whether its rows are those of the dataset here, so the number of
rows must be equal and one of these must hold: both state the same revision; the similarities give
the correlation that mteb's own result states; or a typed #DATASET says so.
"""

from math import nan
from pathlib import Path

import numpy as np

from embedlab.analysis.correlations import spearman
from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.printable import count_text
from embedlab.data.column_names import name_key
from embedlab.data.dataset import Part
from embedlab.data.mteb_files import (
    MtebFiles,
    Predictions,
    StatedFigures,
    find_mteb_files,
    read_figures,
    read_predictions,
)
from embedlab.encoders.encoder import no_similarities
from embedlab.models.encoder_kind import EncoderKind, RowScores, file_and_part

_FORMAT = "mteb:FOLDER takes files that mteb wrote: TASK_predictions.json, TASK.json"
_ROUNDED = 2e-5  # mteb states correlations with six digits


def score_rows(location: str, part: Part) -> RowScores | None:
    """Return the similarities of the rows of PART; None where the files have none of it."""
    path, dataset = file_and_part(location)
    files = find_mteb_files(path)
    task = _task_of(files, dataset, part)
    if task is None:
        return None
    predictions = read_predictions(files.predictions[task], part.state.split)
    if predictions is None:
        return None
    figures = read_figures(files.results[task], part.state.split) if task in files.results else None
    alignment = _alignment(predictions, part, figures, is_typed=dataset is not None)
    note = f"{predictions.task} predicted by {predictions.model}, {alignment}"
    return np.array(predictions.values, np.float32), note


def figures_of_files(location: str) -> tuple[StatedFigures, ...]:
    """Return the figures of all result files; nothing if there are predictions, whose numbers are
    computed.

    A damaged file is skipped if there are others; otherwise it is a MissingError.
    """
    files = find_mteb_files(file_and_part(location)[0])
    if files.predictions:
        return ()
    all_figures: list[StatedFigures] = []
    damaged: list[EmbedlabError] = []
    for task, path in files.results.items():
        try:
            figures = read_figures(path)
        except EmbedlabError as error:
            damaged.append(error)
            figures = StatedFigures(
                path=path,
                task=task,
                **dict.fromkeys(("revision", "split", "subset"), ""),
                version=None,
                figures={"main_score": nan},
                fault=error.message,
            )
        all_figures += [figures] if figures is not None else []
    if damaged and len(damaged) == len(all_figures):
        raise damaged[0]
    return tuple(all_figures)


def _alignment(
    predictions: Predictions, part: Part, figures: StatedFigures | None, *, is_typed: bool
) -> str:
    """Return why the similarities belong to the rows of PART; where nothing says so, or something
    contradicts it, refuse them.
    """
    state, count, path = part.state, len(predictions.values), predictions.path
    revision = (state.revision or "").rpartition("@")[2]
    if count != len(part.frame):
        raise MissingError(
            f"{path} has {count} similarities, {state.name} {state.split} has "
            f"{count_text(len(part.frame), 'rows')}",
            hint="predict on the rows that embedlab reads, or name others with --task",
        )
    if figures is not None and revision and revision != figures.revision:
        raise MissingError(
            f"{path} was made at revision {figures.revision[:8]}, {state.name} was "
            f"read at {revision[:8]}",
            hint="predict again at that revision",
        )
    stated_spearman = None if figures is None else figures.figures.get("cosine_spearman")
    if figures is not None and stated_spearman is not None:
        own_spearman = spearman(part.frame["gold"].to_numpy(), np.array(predictions.values))
        if not abs(own_spearman - stated_spearman) <= _ROUNDED:
            raise MissingError(
                f"{path} gives a Spearman of {100 * own_spearman:.2f} on {state.name}, "
                f"where {figures.path.name} states {100 * stated_spearman:.2f}",
                hint="the rows are in another order, or not the same: predict on the rows that "
                "embedlab reads",
            )
        return f"aligned by row: it gives the correlation that {figures.path.name} states"
    if figures is not None and revision:
        return f"aligned by row at revision {revision[:8]}"
    if is_typed:
        return f"aligned by row with {state.name}, as typed"
    raise MissingError(
        f"{path} does not state the revision of its dataset",
        hint=f"put mteb's {predictions.task}.json next to it, or state whose rows they are: "
        f"mteb:{path}#{state.name}",
    )


def _task_of(files: MtebFiles, dataset: str | None, part: Part) -> str | None:
    """Return the task whose predictions are of PART."""
    if dataset is None:
        return next(
            (task for task in files.predictions if name_key(task) == name_key(part.state.name)),
            None,
        )
    return next(iter(files.predictions), None) if part.state.name == dataset else None


def _locate(location: str) -> str:
    path, dataset = file_and_part(location)
    if not path.exists():
        raise MissingError(f"no file or folder {str(path)!r}", hint=_FORMAT)
    if dataset is not None and path.is_dir():
        raise UsageError(
            f"{str(path)!r} is a folder: #{dataset} names the rows of one file",
            hint="mteb:FILE#DATASET",
        )
    files = find_mteb_files(path)
    if not files.predictions and not files.results:
        raise MissingError(f"no file of mteb in {str(path)!r}", hint=_FORMAT)
    return str(path) if dataset is None else f"{path}#{dataset}"


def _further_files(location: str) -> list[Path]:
    """Return the result of a prediction file, which lies beside it and says whether its rows are
    those of a dataset.
    """
    path = file_and_part(location)[0]
    return (
        []
        if path.is_dir()
        else [file for file in find_mteb_files(path).results.values() if file != path]
    )


ENCODER = EncoderKind(
    open=no_similarities(
        "'mteb:{}' holds similarities of rows, not of texts",
        hint="take it to compare, pairs, evaluate or the dashboard",
    ),
    locate=_locate,
    backend="file",
    has_vectors=False,
    is_published=True,
    score_rows=score_rows,
    figures=figures_of_files,
    further=_further_files,
)
