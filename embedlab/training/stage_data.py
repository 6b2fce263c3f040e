"""The rows a stage learns from, opened and numbered, and their order in each epoch; light, so that `--dry-run` can show a batch."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from embedlab.data.dataset import State
from embedlab.data.source import Source
from embedlab.errors import MissingError
from embedlab.names import objective_options
from embedlab.objectives.needs import Needs, require_columns
from embedlab.objectives.rows import Rows, index_rows
from embedlab.recipe import Recipe, Stage
from embedlab.training.order import Groups, Indices, epoch_batches, group_rows, steps_of_epochs


@dataclass(frozen=True, kw_only=True)
class StageData:
    """One stage's rows and the steps it takes over them."""

    index: int  # of the stage in its recipe
    stage: Stage
    rows: Rows
    groups: Groups
    states: tuple[State, ...]
    seed: int
    epochs: tuple[int, ...]  # steps of each
    first: int  # steps that the stages before take

    @property
    def end(self) -> int:
        """Steps of the recipe that are done when this stage is."""
        return self.first + sum(self.epochs)

    def batches(self, epoch: int) -> list[Indices]:
        """The rows of each batch of an epoch; a last epoch that is cut short takes fewer of them."""
        batches = epoch_batches(self.groups, self.stage.optim.batch_size, seed=self.seed, stage=self.index, epoch=epoch)
        return batches[: self.epochs[epoch]]


def open_stages(recipe: Recipe, source: Source, seed: int) -> tuple[StageData, ...]:
    """Every stage of a recipe with its data, in order."""
    opened: list[StageData] = []
    for index in range(len(recipe.stages)):
        opened.append(open_stage(recipe, source, seed, index, first=opened[-1].end if opened else 0))
    return tuple(opened)


def open_stage(recipe: Recipe, source: Source, seed: int, index: int, *, first: int = 0) -> StageData:
    """One stage of a recipe with its data; a stage without a row is a MissingError."""
    stage = recipe.stages[index]
    needs = objective_options(stage.objective.name).NEEDS
    frame, states = _read(stage, source, needs)
    rows = index_rows(frame, needs)
    keys = rows.columns[needs.together] if needs.together else np.arange(len(rows))
    batch_size = stage.optim.batch_size
    groups = group_rows(keys, batch_size)
    epochs = steps_of_epochs(groups, batch_size, stage.optim.epochs, seed=seed, stage=index)
    return StageData(index=index, stage=stage, rows=rows, groups=groups, states=states, seed=seed, epochs=epochs, first=first)


def example(data: StageData) -> list[tuple[str, str]]:
    """One example of the stage's first batch in words, as (role, sentence) in the objective's own roles."""
    module = objective_options(data.stage.objective.name)
    batch = data.batches(0)[0]
    columns = {column: data.rows.columns[column][batch] for column in module.NEEDS.columns}
    frame = pl.DataFrame(
        {column: data.rows.sentences.gather(columns[column]) for column in module.NEEDS.sentences}
        | {column: [classes[index] for index in columns[column]] for column, classes in module.NEEDS.classes.items()}
    )
    described: list[tuple[str, str]] = module.describe(frame, data.stage.objective.options, np.random.default_rng(data.seed))
    return described


def _read(stage: Stage, source: Source, needs: Needs) -> tuple[pl.DataFrame, tuple[State, ...]]:
    parts = [source.open(name, stage.data.split) for name in stage.data.datasets]
    for part in parts:
        require_columns(needs, part.frame.columns, objective=stage.objective.name, dataset=part.state.name)
    frames = [part.frame.select(needs.columns).head(stage.data.rows or len(part.frame)) for part in parts]
    frame = pl.concat(frames)
    if frame.is_empty():
        raise MissingError(f"{_names(stage.data.datasets)} has no rows to learn from", hint="`embedlab data check` says what is there")
    return frame, tuple(part.state for part in parts)


def _names(datasets: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in datasets)
