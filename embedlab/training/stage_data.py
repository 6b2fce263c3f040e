"""The training rows of a stage and their order in each epoch; does not import torch, so that
`--dry-run` can show a batch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.core.errors import Hint, MissingError, RecipeValue, UsageError
from embedlab.core.names import objective_options
from embedlab.core.printable import count_text
from embedlab.core.recipe import Recipe, Stage
from embedlab.data.dataset import DatasetState, Part
from embedlab.data.file_name import is_hub_name, is_pair_file
from embedlab.data.overlaps import KnownText
from embedlab.data.own_files import open_evaluated_file, open_own_rows
from embedlab.data.published import canonical_name, datasets_of
from embedlab.data.score_scale import ScoreScale
from embedlab.data.source import Source, dataset
from embedlab.objectives.needs import (
    Needs,
    NumberedRows,
    WordIds,
    describe_row,
    index_rows,
    objective_needs,
    require_columns,
    require_data,
    stage_key,
)
from embedlab.training.order import (
    Draw,
    EpochOrder,
    Indices,
    drawn_batches,
    epoch_batches,
    group_rows,
    parted_batches,
    steps_of_epochs,
    unshuffled_batches,
)

_SAME_ROWS = 0  # seed of row draws that are the same for every run


@dataclass(frozen=True, kw_only=True)
class StageData:
    """One stage's rows and its steps over them."""

    index: int  # of the stage in its recipe
    shuffled_as: int  # the stage whose batches it reads in the same order: itself, or another
    stage: Stage
    rows: NumberedRows
    order: EpochOrder
    states: tuple[DatasetState, ...]
    seed: int
    epochs: tuple[int, ...] = ()  # steps of each; the last may be cut short
    passes: float  # passes over the rows; a partial last pass counts as a fraction
    ends: tuple[int, ...]  # end of each dataset in the rows
    scale: str  # the range of the user's own scores, and what the objective says of it
    excluded: str  # how many rows are left out for their text, and whose text it is

    @property
    def steps(self) -> int:
        """Return the steps of the stage."""
        return sum(self.epochs)

    def batches(self, epoch: int) -> list[Indices]:
        """Return the rows of each batch of an epoch; a last epoch that is cut short has fewer
        batches.
        """
        return self.whole_epoch(epoch)[: self.epochs[epoch]]

    def whole_epoch(self, epoch: int) -> list[Indices]:
        """Return the rows of each batch of an epoch that is not cut short."""
        return epoch_batches(self.order, seed=self.seed, stage=self.shuffled_as, epoch=epoch)

    def batches_in(self, epoch: int) -> int:
        """Return the number of batches of an epoch that is not cut short."""
        return len(self.whole_epoch(epoch))

    @property
    def read(self) -> Indices:
        """Return the rows that any epoch reads, in order."""
        if not self.stage.data.shares:
            return np.arange(len(self.rows))
        batches = [rows for epoch in range(len(self.epochs)) for rows in self.batches(epoch)]
        none = np.empty(0, np.int64)  # a stage that `max_steps` leaves out reads no rows
        return np.unique(np.concatenate([none, *batches]))

    @property
    def used(self) -> list[int | None]:
        """Return the rows read of each dataset; None where all opened rows are read."""
        if not self.stage.data.shares:
            return [self.stage.data.rows] * len(self.states)
        counts = np.diff(np.searchsorted(self.read, self.ends), prepend=0)
        return [int(count) for count in counts]


def open_stage(
    recipe: Recipe, source: Source, seed: int, index: int, word_ids: WordIds | None = None
) -> StageData:
    """Open one stage of a recipe with its data, as if it were alone; a stage without rows is a
    MissingError.
    """
    require_data(recipe)
    stage = recipe.stages[index]
    needs = objective_needs(stage.objective)
    opened = _open_parts(stage, source, needs)
    parts = _without_text_of(stage, source, needs, opened)
    own_parts = [part for number, part in enumerate(parts) if _is_own_file(stage, number)]
    scale = _check_scale(recipe, index, needs, own_parts)
    frames = _draw_stage_rows(stage, needs, parts, seed)
    rows = index_rows(pl.concat(frames), needs, word_ids)
    if not len(rows):
        raise MissingError(
            f"{quoted_names(stage.data.names)} has no rows to train on",
            hint="`embedlab data check` says what is there",
        )
    ends = np.cumsum([len(frame) for frame in frames])
    data = StageData(
        index=index,
        shuffled_as=index,
        stage=stage,
        rows=rows,
        order=_epoch_order(stage, needs, rows, ends),
        states=tuple(part.state for part in parts),
        seed=seed,
        passes=stage.optim.epochs,
        ends=tuple(ends.tolist()),
        scale=scale,
        excluded=_excluded_title(stage, opened, parts),
    )
    data = replace(data, epochs=steps_of_epochs(data.batches_in, data.passes))
    _refuse_constant(data, needs)
    return data


def _refuse_constant(data: StageData, needs: Needs) -> None:
    """Refuse rows from which the objective cannot learn: of one class, or in batches that never
    hold what it compares.
    """
    stage, columns = data.stage, data.rows.columns
    names, objective = quoted_names(stage.data.names), stage.objective.name
    varying = (*needs.classes, *needs.numbers, *needs.words)
    for column in varying if needs.varying_columns is None else needs.varying_columns:
        if (columns[column] == columns[column][0]).all():
            own_column = (stage.data.columns or {}).get(column, column)
            raise UsageError(
                f"{names}: {own_column!r} is {str(data.rows.frame[column][0])!r} in all "
                f"{count_text(len(data.rows), 'rows')} for training: {objective!r} has nothing to "
                f"tell apart",
                hint="add rows with another value",
            )
    for column, needed_class in needs.required_classes.items():
        if not (columns[column] == needs.classes[column].index(needed_class)).any():
            raise UsageError(
                f"{names}: no {column!r} is {needed_class!r}, and {objective!r} has nothing to "
                f"draw together",
                hint=f"add rows whose {column} is {needed_class}",
            )
    batches = (
        part
        for epoch in range(min(3, len(data.epochs)))  # each holds all rows, but for data.shares
        for batch in data.whole_epoch(epoch)
        for part in np.array_split(batch, stage.optim.accumulate or 1)
    )
    if needs.compares_rows and not any(_is_learnable(part, columns, needs) for part in batches):
        columns_text = " or ".join(map(repr, needs.contrasts)) or "its rows"
        columns_text = " and of ".join([columns_text, *map(repr, needs.differing)])
        is_shuffled = stage.data.order is None
        raise UsageError(
            f"{names}: no batch holds two different values of {columns_text}: {objective!r} "
            f"compares them and would learn nothing",
            hint="add rows that differ there"
            if is_shuffled
            else "remove data.order, so that rows are shuffled",
        )


def _is_learnable(batch: Indices, columns: Mapping[str, NDArray[Any]], needs: Needs) -> bool:
    """Return whether a batch holds something to compare."""
    if len(batch) < 2 and len(needs.contrasts) < 2:
        return False
    together = [columns[column][batch] for column in needs.contrasts]
    values = [np.concatenate(together)] * bool(together)
    values += [columns[column][batch] for column in needs.differing]
    return all(len(np.unique(numbers)) > 1 for numbers in values)


def check_own_rows(recipe: Recipe, source: Source, seed: int) -> None:
    """Refuse files of the user's own that a stage or the dev score cannot read; no encoder and no
    dataset is opened for it.

    They are read again when the training begins: a wrong column is an error at once, before torch
    is loaded.
    """
    for index, stage in enumerate(recipe.stages):
        # whoever loads its plug-in checks it
        if not stage.data.files or not stage.objective.is_loaded:
            continue
        if not stage.data.datasets:
            open_stage(recipe, source, seed, index)
            continue
        needs = objective_needs(stage.objective)
        parts = _open_files(stage, needs)
        _check_scale(recipe, index, needs, parts)
        _draw_stage_rows(stage, needs, parts, seed)
    if is_pair_file(recipe.evaluate.dev) and not is_hub_name(recipe.evaluate.dev):
        open_evaluated_file(recipe.evaluate.dev)


def groups_of(stages: Sequence[Stage]) -> list[list[int]]:
    """Return the indices of the stages that are trained together: neighbours with the same kind of
    turn, or one alone.
    """
    groups: list[list[int]] = []
    kinds = [
        stage.optim.turn if isinstance(stage.optim.turn, str) else bool(stage.optim.turn)
        for stage in stages
    ]
    for index, kind in enumerate(kinds):
        if index and kind and kind == kinds[index - 1]:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def first_example(data: StageData) -> list[tuple[str, str]]:
    """Return one example of the stage's first batch as text: (role, sentence) in the objective's
    own roles.
    """
    objective = data.stage.objective
    batch = data.rows.frame[data.batches(0)[0]]
    describe = getattr(objective_options(objective.name), "describe", describe_row)
    described: list[tuple[str, str]] = describe(
        batch, objective.options, np.random.default_rng(data.seed)
    )
    return described


def _epoch_order(stage: Stage, needs: Needs, rows: NumberedRows, ends: Indices) -> EpochOrder:
    """Return what makes the batches of an epoch; ENDS are those of the datasets in the rows.

    Rows with the same sentence in the objective's shared column are a group, which is shuffled as
    one. Datasets that are read in turn or in part have groups of their own: in turn, each is a part
    of the epoch, and otherwise their groups are drawn and shuffled together.
    """
    order, shares, size = stage.data.order, stage.data.shares or {}, stage.optim.batch_size
    if needs.parts_repeats and (order or shares):
        raise UsageError(
            "objective.repeats = apart makes its own batches, not those of data.order or "
            "data.shares",
            hint="remove one of them",
        )
    if order == "file" and shares:
        raise UsageError(
            "data.order = file reads all rows as they come, and data.shares only some of them",
            hint="remove one of them",
        )
    if needs.parts_repeats:
        texts = np.stack([rows.columns[column] for column in needs.encoded], axis=1)
        return partial(parted_batches, texts, size)
    if order == "file":
        return partial(unshuffled_batches, len(rows), size)
    keys = rows.columns[needs.shared_column] if needs.shared_column else np.arange(len(rows))
    if order is None and not shares:
        groups = group_rows(keys, size)
        numbers = np.arange(len(groups))
        return partial(drawn_batches, groups, [[Draw(groups=numbers, units=numbers)]], size)
    if rows.left_out:
        raise UsageError(
            "data.order and data.shares cannot be used where rows are left out for their word",
            hint="remove both",
        )
    number_of = np.searchsorted(ends, np.arange(len(keys)), side="right")
    groups = group_rows(keys * len(ends) + number_of, size)
    first_rows = groups.rows[groups.bounds[:-1]]
    draws = []
    starts = [0, *ends]
    for number, name in enumerate(stage.data.names):
        indices = np.flatnonzero(number_of[first_rows] == number)
        rows_in_dataset = first_rows[indices] - starts[number]
        units = rows_in_dataset // _rows_a_unit(stage, number)
        draws.append(Draw(groups=indices, units=units, share=shares.get(name, 1.0)))
    parts = [[draw] for draw in draws] if order == "in-turn" else [draws]
    return partial(drawn_batches, groups, parts, size)


def _rows_a_unit(stage: Stage, number: int) -> int:
    """Return how many rows of the dataset with this NUMBER are drawn together; a sample of its rows
    has no units.
    """
    if stage.data.rows is not None or _is_own_file(stage, number):
        return 1
    return dataset(stage.data.datasets[number]).unit


def _is_own_file(stage: Stage, number: int) -> bool:
    """Return whether the dataset with this NUMBER is a file of the user's; these are read behind
    the others.
    """
    datasets = stage.data.datasets
    return number >= len(datasets) or is_pair_file(datasets[number])


def _open_parts(stage: Stage, source: Source, needs: Needs) -> list[Part]:
    parts = [
        source.open(name, stage.data.split, kind=needs.kinds[0]) for name in stage.data.datasets
    ]
    for part in parts:
        require_columns(
            needs, part.frame.columns, objective=stage.objective.name, dataset=part.state.name
        )
    return parts + _open_files(stage, needs)


def _open_files(stage: Stage, needs: Needs) -> list[Part]:
    files = stage.data.files or ()
    if stage.data.held_out is not None and len(files) > 1:  # they may share topics
        raise UsageError(
            f"data.held_out is of one file, and {quoted_names(stage.data.names)} are several",
            hint="remove it, and name a dev file",
        )
    return [open_own_rows(Path(file), needs.shape, stage.data) for file in files]


def _without_text_of(
    stage: Stage, source: Source, needs: Needs, parts: Sequence[Part]
) -> list[Part]:
    """Return PARTS without the rows one of whose sentences is in the dev and test splits that the
    stage excludes; their states say so.
    """
    names = stage.data.exclude_text_of
    if not names:
        return [*parts]
    excluded = dict.fromkeys(
        dataset_name for name in names for dataset_name in datasets_of(canonical_name(name))
    )
    excluded_text = KnownText.of(
        source.open_split(dataset(name), split).frame
        for name in excluded
        for split in dataset(name).splits
        if split != "train"
    )
    remaining = []
    for part in parts:
        is_known = pl.Series(excluded_text.has_any(part.frame, needs.sentences))
        dropped = {f"text of {', '.join(names)}": int(is_known.sum())} if is_known.any() else {}
        state = replace(part.state, skipped={**part.state.skipped, **dropped})
        remaining.append(Part(frame=part.frame.filter(~is_known), state=state))
    return remaining


def _excluded_title(stage: Stage, opened: Sequence[Part], parts: Sequence[Part]) -> str:
    """Return what is left out of the user's own files among those OPENED, with its places, and, in
    PARTS, for its text.
    """
    titles = [
        f"{part.state.name}: left out {count} {reason}"
        for number, part in enumerate(opened)
        if _is_own_file(stage, number)
        for reason, count in part.state.skipped.items()
    ]
    if stage.data.exclude_text_of:
        dropped = sum(part.frame.height for part in opened) - sum(
            part.frame.height for part in parts
        )
        titles.append(
            f"{count_text(dropped, 'rows are')} left out: a sentence of theirs is in "
            f"{', '.join(stage.data.exclude_text_of)}"
        )
    return "; ".join(titles)


def _check_scale(recipe: Recipe, index: int, needs: Needs, own_parts: Sequence[Part]) -> str:
    """Return the range of the user's own scores in words, empty where there are none; another scale
    than the objective's is refused.
    """
    is_stated_low = recipe.stages[index].data.low_scores
    if needs.largest is None or not own_parts:
        if is_stated_low is not None:
            raise UsageError(
                "data.low_scores has no effect: no scores of your own are read", hint="remove it"
            )
        return ""
    key = stage_key(recipe, index, f"objective.{needs.scale_option}")
    low_key = stage_key(recipe, index, "data.low_scores")
    scores = [part.frame[column] for part in own_parts for column in needs.numbers]
    scale = ScoreScale.of(pl.concat([column.cast(pl.Float64) for column in scores]))
    is_low = scale.contradicts((0.0, needs.largest))
    names = quoted_names([part.state.name for part in own_parts])
    if is_low and not is_stated_low:
        raise UsageError(
            f"{names}: the scores are {scale}, but {key} is {needs.largest:g}",
            hint=Hint(
                "state their scale: ",
                RecipeValue(key, f"{max(map(abs, scale.fitting)):g}"),
                "; where all of them are low on this scale: ",
                RecipeValue(low_key, "true"),
            ),
        )
    if is_stated_low and not is_low:
        raise UsageError(
            f"{names}: the scores are {scale}, not all in the lower half of a scale up to "
            f"{needs.largest:g}",
            hint=f"remove {low_key}",
        )
    return f"own scores are {scale}, {key} is {needs.largest:g}"


def _draw_stage_rows(
    stage: Stage, needs: Needs, parts: Sequence[Part], seed: int
) -> list[pl.DataFrame]:
    key = needs.shared_column or needs.columns[0]
    conditions = [pl.col(column).cast(pl.String) == label for column, label in needs.only.items()]
    chance = seed if stage.data.sample == "seed" else _SAME_ROWS
    # Labels are numbers in some datasets, and text in files.
    labels = [pl.col(column).cast(pl.String) for column in needs.classes if stage.data.files]
    return [
        _draw_rows(
            part.frame.select(needs.columns).with_columns(labels).filter(*conditions),
            stage.data.rows,
            key,
            chance,
        )
        for part in parts
    ]


def _draw_rows(frame: pl.DataFrame, rows: int | None, key: str, seed: int) -> pl.DataFrame:
    """Return ROWS random rows of a dataset, in its order; rows with an equal KEY are drawn
    together.

    The first rows of a file are not a random sample: dictionaries are sorted by word, corpora by
    genre or difficulty.
    """
    if rows is None or rows >= len(frame):
        return frame
    keys = frame[key].rank("dense").to_numpy() - 1
    chance = np.random.default_rng(seed).permutation(keys.max() + 1)
    return frame[np.sort(np.argsort(chance[keys], kind="stable")[:rows])]


def quoted_names(datasets: Sequence[str]) -> str:
    """Return the names of DATASETS as a message lists them."""
    return ", ".join(map(repr, datasets))
