"""The training rows of a stage and their order in each epoch; does not import torch, so that
`--dry-run` can show a batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from embedlab.core.errors import Hint, MissingError, RecipeValue, UsageError
from embedlab.core.names import objective_options
from embedlab.core.printable import count_text
from embedlab.core.recipe import MixSection, Recipe, Stage
from embedlab.data.dataset import DatasetState, Part
from embedlab.data.file_name import is_hub_name, is_pair_file
from embedlab.data.overlaps import KnownText
from embedlab.data.own_columns import ScoreScale
from embedlab.data.own_files import open_evaluated_file, open_own_rows
from embedlab.data.published import canonical_name, datasets_of
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
    Groups,
    Indices,
    batch_order,
    epoch_batches,
    epochs_of_steps,
    group_rows,
    steps_of_epochs,
)

_SAME_ROWS = 0  # seed of row draws that are the same for every run


@dataclass(frozen=True, kw_only=True)
class StageData:
    """One stage's rows and its steps over them."""

    index: int  # of the stage in its recipe
    leader: int  # the stage whose end ends this one: itself, or one that it is trained with
    stage: Stage
    rows: NumberedRows
    groups: Groups
    states: tuple[DatasetState, ...]
    seed: int
    epochs: tuple[int, ...]  # steps of each; the last may be cut short
    passes: float  # passes over the rows; a partial last pass counts as a fraction
    whole: tuple[int, ...] = ()  # the epochs without `max_steps`; empty = the same
    ends: tuple[int, ...] = ()  # end of each dataset in the rows
    scale: str = ""  # the range of the user's own scores, and what the objective says of it
    excluded: str = ""  # how many rows are left out for their text, and whose text it is

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
        # Stages that read the same batches are shuffled in the same way.
        stage = self.leader if self.stage.optim.turn == "batch" else self.index
        return epoch_batches(
            self.groups, self.stage.optim.batch_size, seed=self.seed, stage=stage, epoch=epoch
        )

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
    frames, scale = (
        _draw_stage_rows(stage, needs, parts, seed),
        _check_scale(recipe, index, needs, parts),
    )
    rows = index_rows(pl.concat(frames), needs, word_ids)
    if not len(rows):
        raise MissingError(
            f"{_names(stage.data.names)} has no rows to train on",
            hint="`embedlab data check` says what is there",
        )
    keys = rows.columns[needs.shared_column] if needs.shared_column else np.arange(len(rows))
    dataset_ends = np.cumsum([len(frame) for frame in frames])
    groups = _group_stage_rows(stage, keys, dataset_ends, is_whole=not rows.left_out)
    passes = stage.optim.epochs
    if needs.parts_repeats:
        if groups.parts or not groups.is_shuffled:
            raise UsageError(
                "objective.repeats = apart makes its own batches, not those of data.order or "
                "data.shares",
                hint="remove one of them",
            )
        texts = np.stack([rows.columns[column] for column in needs.encoded], axis=1)
        groups = replace(groups, texts=texts)
    data = StageData(
        index=index,
        leader=index,
        stage=stage,
        rows=rows,
        groups=groups,
        states=tuple(part.state for part in parts),
        seed=seed,
        epochs=(),
        passes=passes,
        ends=tuple(dataset_ends.tolist()),
        scale=scale,
        excluded=_excluded_title(
            stage,
            opened,
            sum(part.frame.height for part in opened) - sum(part.frame.height for part in parts),
        ),
    )
    data = replace(data, epochs=steps_of_epochs(data.whole_epoch, passes))
    _refuse_constant(data, needs)
    return data


def _refuse_constant(data: StageData, needs: Needs) -> None:
    """Refuse rows from which the objective cannot learn: of one class, or in batches that never
    hold what it compares.
    """
    stage, columns = data.stage, data.rows.columns
    names, objective = _names(stage.data.names), stage.objective.name
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
                "draw "
                f"together",
                hint=f"add rows whose {column} is {needed_class}",
            )
    if not needs.compares_rows:
        return
    accumulate = stage.optim.accumulate or 1

    def is_learnable(part: Indices) -> bool:
        if needs.contrasts:
            values = np.concatenate([columns[column][part] for column in needs.contrasts])
            if not (values != values[:1]).any():
                return False
        return len(part) > 1 or len(needs.contrasts) > 1

    batches = (
        part
        for epoch in range(min(3, len(data.epochs)))  # each holds all rows, but for data.shares
        for batch in data.whole_epoch(epoch)
        for part in np.array_split(batch, accumulate)
    )
    if not any(is_learnable(part) for part in batches):
        columns_text = " or ".join(map(repr, needs.contrasts)) or "its rows"
        raise UsageError(
            f"{names}: no batch holds two different values of {columns_text}: {objective!r} "
            "compares "
            f"them and would learn nothing",
            hint="add rows that differ there"
            if stage.data.order is None
            else "remove data.order, so that rows are shuffled",
        )


def check_own_rows(recipe: Recipe, source: Source, seed: int) -> None:
    """Refuse files of the user's own that a stage or the dev score cannot read; no encoder and no
    dataset is opened for it.

    They are read again when the training begins: a wrong column is an error at once, before torch
    is loaded.
    """
    own_rows = replace(
        recipe,
        stages=tuple(
            replace(stage, data=replace(stage.data, datasets=())) for stage in recipe.stages
        ),
    )
    for index, stage in enumerate(own_rows.stages):
        # whoever loads its plug-in checks it
        if stage.data.files and stage.objective.is_loaded:
            if not recipe.stages[index].data.datasets:
                open_stage(own_rows, source, seed, index)
                continue
            needs = objective_needs(stage.objective)
            parts = _open_parts(stage, source, needs)
            _check_scale(own_rows, index, needs, parts)
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


def turn_lengths(stages: Sequence[StageData]) -> list[int]:
    """Return how many batches in a row each of the stages trained together gives."""
    return [turn if isinstance(turn := data.stage.optim.turn, int) else 1 for data in stages]


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


def join_stages(group: Sequence[StageData], mix: MixSection) -> list[StageData]:
    """Return the stages of a GROUP with the steps that the leader leaves them, restarting their
    rows as often as needed.
    """
    if len(group) == 1:
        return list(group)
    if isinstance(group[0].stage.optim.turn, str):
        return _stages_in_step(group)
    sizes = [data.epochs[0] for data in group]
    index = {"first": 0, "smallest": int(np.argmin(sizes)), "largest": int(np.argmax(sizes))}[
        mix.until
    ]
    leader, turns = group[index], turn_lengths(group)
    if mix.combine == "turns" and leader.steps < turns[index]:
        other_index = next(data.index for data in group if data is not leader)
        raise UsageError(
            f"stage {other_index} never gets its turn: stage {leader.index} has "
            f"{leader.steps} steps, fewer than its turn",
            hint=Hint(RecipeValue(f"stage.{leader.index}.optim.turn", str(leader.steps))),
        )
    steps = np.bincount(batch_order(mix.combine, turns, index, leader.epochs), minlength=len(group))
    return [
        data if data is leader else _follow_leader(data, leader, int(step_count))
        for data, step_count in zip(group, steps, strict=True)
    ]


def shorten_stage(data: StageData, steps: int) -> StageData:
    """Return a stage with its first STEPS alone; its learning rate schedule covers those."""
    epochs: list[int] = []
    while (steps_left := steps - sum(epochs)) > 0:
        epochs.append(min(steps_left, data.epochs[len(epochs)]))
    passes = 0.0
    if epochs:
        passes = len(epochs) - 1 + epochs[-1] / len(data.whole_epoch(len(epochs) - 1))
    return replace(data, epochs=tuple(epochs), passes=passes, whole=data.epochs)


def _stages_in_step(group: Sequence[StageData]) -> list[StageData]:
    """Return stages of a GROUP that go through their own epochs in step; the same batches must hold
    the same texts.
    """
    leader = group[0]
    stages = [replace(data, leader=leader.index) for data in group]
    if leader.stage.optim.turn == "batch":
        texts = leader.rows.frame.to_series(0)
        for data in stages[1:]:
            if not data.rows.frame.to_series(0)[: len(texts)].equals(texts) or (
                data.ends[0] != len(texts)
            ):
                raise UsageError(
                    f"stage {data.index} cannot read the batches of stage {leader.index}: "
                    f"its first dataset has other texts",
                    hint=f"let its datasets begin with {_names(leader.stage.data.names)}, "
                    f"data.order = in-turn, data.rows alike",
                )
        # The leader's order decides how groups of rows fill batches.
        stages = [
            replace(data, epochs=steps_of_epochs(data.whole_epoch, data.stage.optim.epochs))
            for data in stages
        ]
    return stages


def _follow_leader(data: StageData, leader: StageData, steps: int) -> StageData:
    epochs, passes = epochs_of_steps(data.whole_epoch, steps), steps / len(data.whole_epoch(0))
    return replace(data, leader=leader.index, epochs=epochs, passes=passes)


def _group_stage_rows(
    stage: Stage, keys: Indices, dataset_ends: Indices, *, is_whole: bool
) -> Groups:
    """Return the rows that stay together, by KEYS; per dataset (up to its END) where datasets are
    read in turn or in part.
    """
    order, shares = stage.data.order, stage.data.shares
    if order == "file":
        if shares:
            raise UsageError(
                "data.order = file reads all rows as they come, and data.shares only some of them",
                hint="remove one of them",
            )
        return replace(group_rows(np.arange(len(keys)), stage.optim.batch_size), is_shuffled=False)
    if order is None and not shares:
        return group_rows(keys, stage.optim.batch_size)
    if not is_whole:
        raise UsageError(
            "data.order and data.shares cannot be used where rows are left out for their word",
            hint="remove both",
        )
    number_of = np.searchsorted(dataset_ends, np.arange(len(keys)), side="right")
    groups = group_rows(keys * len(dataset_ends) + number_of, stage.optim.batch_size)
    first_rows = groups.rows[groups.bounds[:-1]]
    draws = []
    for number, name in enumerate(stage.data.names):
        indices = np.flatnonzero(number_of[first_rows] == number)
        rows = first_rows[indices] - (dataset_ends[number - 1] if number else 0)
        draws.append(
            Draw(
                groups=indices,
                units=rows // _rows_a_unit(stage, number),
                share=(shares or {}).get(name, 1.0),
            )
        )
    return replace(
        groups, parts=tuple((draw,) for draw in draws) if order == "in-turn" else (tuple(draws),)
    )


def _rows_a_unit(stage: Stage, number: int) -> int:
    """Return how many rows of the dataset with this NUMBER are drawn together; a sample of its rows
    has no units.
    """
    return (
        1
        if stage.data.rows is not None or _is_own_file(stage, number)
        else dataset(stage.data.datasets[number]).unit
    )


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
    if stage.data.held_out is not None and len(stage.data.files or ()) > 1:  # they may share topics
        raise UsageError(
            f"data.held_out is of one file, and {_names(stage.data.names)} are several",
            hint="remove it, and name a dev file",
        )
    files = map(Path, stage.data.files or ())
    return parts + [open_own_rows(file, needs.shape, stage.data) for file in files]


def _without_text_of(
    stage: Stage, source: Source, needs: Needs, parts: Sequence[Part]
) -> list[Part]:
    """Return PARTS without the rows one of whose sentences is in the dev and test splits that the
    stage excludes; their states say so.
    """
    names = stage.data.exclude_text_of
    if not names:
        return [*parts]
    excluded_names = list(
        dict.fromkeys(
            dataset_name for name in names for dataset_name in datasets_of(canonical_name(name))
        )
    )
    splits = [
        (dataset(name), split)
        for name in excluded_names
        for split in dataset(name).splits
        if split != "train"
    ]
    excluded_text = KnownText.of(
        source.open_split(excluded_dataset, split).frame for excluded_dataset, split in splits
    )
    remaining = []
    for part in parts:
        remaining_rows = part.frame.filter(
            ~pl.Series(excluded_text.has_any(part.frame, needs.sentences))
        )
        dropped = part.frame.height - remaining_rows.height
        skipped = (
            {**part.state.skipped, f"text of {', '.join(names)}": dropped}
            if dropped
            else part.state.skipped
        )
        remaining.append(Part(frame=remaining_rows, state=replace(part.state, skipped=skipped)))
    return remaining


def _excluded_title(stage: Stage, parts: Sequence[Part], dropped: int) -> str:
    """Return what is left out of the user's own files, with its places, and for its text."""
    own_states = [part.state for number, part in enumerate(parts) if _is_own_file(stage, number)]
    titles = [
        f"{state.name}: left out {count} {reason}"
        for state in own_states
        for reason, count in state.skipped.items()
    ]
    if stage.data.exclude_text_of:
        titles.append(
            f"{count_text(dropped, 'rows are')} left out: a sentence of theirs is in "
            f"{', '.join(stage.data.exclude_text_of)}"
        )
    return "; ".join(titles)


def _check_scale(recipe: Recipe, index: int, needs: Needs, parts: Sequence[Part]) -> str:
    """Return the range of the user's own scores in words, empty where there are none; another scale
    than the objective's is refused.
    """
    stage = recipe.stages[index]
    own_parts = [part for number, part in enumerate(parts) if _is_own_file(stage, number)]
    if needs.largest is None or not own_parts:
        if stage.data.low_scores is not None:
            raise UsageError(
                "data.low_scores has no effect: no scores of your own are read", hint="remove it"
            )
        return ""
    key = stage_key(recipe, index, f"objective.{needs.scale_option}")
    low_key = stage_key(recipe, index, "data.low_scores")
    scale = ScoreScale.of(
        pl.concat(
            [part.frame[column].cast(pl.Float64) for part in own_parts for column in needs.numbers]
        )
    )
    is_low, names = (
        scale.contradicts((0.0, needs.largest)),
        _names([part.state.name for part in own_parts]),
    )
    if is_low and not stage.data.low_scores:
        scale_value, low = (
            RecipeValue(key, f"{max(map(abs, scale.fitting)):g}"),
            RecipeValue(low_key, "true"),
        )
        hint = Hint(
            "state their scale: ", scale_value, "; where all of them are low on this scale: ", low
        )
        raise UsageError(
            f"{names}: the scores are {scale}, but {key} is {needs.largest:g}", hint=hint
        )
    if stage.data.low_scores and not is_low:
        message = (
            f"{names}: the scores are {scale}, not all in the lower half of a scale up to "
            f"{needs.largest:g}"
        )
        raise UsageError(message, hint=f"remove {low_key}")
    return f"own scores are {scale}, {key} is {needs.largest:g}"


def _draw_stage_rows(
    stage: Stage, needs: Needs, parts: Sequence[Part], seed: int
) -> list[pl.DataFrame]:
    key = needs.shared_column or needs.columns[0]
    conditions = [pl.col(column).cast(pl.String) == label for column, label in needs.only.items()]
    chance = seed if stage.data.sample == "seed" else _SAME_ROWS
    # Labels are numbers in some datasets, and text in files.
    columns = [
        pl.col(column).cast(pl.String)
        if stage.data.files and column in needs.classes
        else pl.col(column)
        for column in needs.columns
    ]
    return [
        _draw_rows(part.frame.select(columns).filter(*conditions), stage.data.rows, key, chance)
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


def _names(datasets: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in datasets)
