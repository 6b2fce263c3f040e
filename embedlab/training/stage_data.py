"""The rows a stage learns from, opened and numbered, and their order in each epoch; light, so that `--dry-run` can show a batch."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from embedlab.data.dataset import State
from embedlab.data.source import Source
from embedlab.errors import MissingError, UsageError
from embedlab.names import objective_options
from embedlab.objectives.needs import Needs, objective_needs, require_columns
from embedlab.objectives.rows import Rows, WordIds, index_rows
from embedlab.recipe import Recipe, Stage
from embedlab.training.order import Groups, Indices, epoch_batches, epochs_of_steps, group_rows, steps_of_epochs


@dataclass(frozen=True, kw_only=True)
class StageData:
    """One stage's rows and the steps it takes over them."""

    index: int  # of the stage in its recipe
    leader: int  # the stage whose end ends this one: itself, or the first of those that take turns
    stage: Stage
    rows: Rows
    groups: Groups
    states: tuple[State, ...]
    seed: int
    epochs: tuple[int, ...]  # steps of each; the last may be cut short
    passes: float  # over the rows, the last counted as the part of it that is taken

    @property
    def steps(self) -> int:
        """Steps the stage takes."""
        return sum(self.epochs)

    def batches(self, epoch: int) -> list[Indices]:
        """The rows of each batch of an epoch; a last epoch that is cut short takes fewer of them."""
        batches = epoch_batches(self.groups, self.stage.optim.batch_size, seed=self.seed, stage=self.index, epoch=epoch)
        return batches[: self.epochs[epoch]]


def open_stages(recipe: Recipe, source: Source, seed: int, words: WordIds | None = None) -> tuple[StageData, ...]:
    """Every stage of a recipe with its data, in order.

    WORDS are those of the encoder; without them, as in a dry run, no row is left out for its word.
    """
    opened: list[StageData] = []
    for index in range(len(recipe.stages)):
        opened.append(open_stage(recipe, source, seed, index, words, opened))
    return tuple(opened)


def open_stage(
    recipe: Recipe, source: Source, seed: int, index: int, words: WordIds | None = None, before: Sequence[StageData] = ()
) -> StageData:
    """One stage of a recipe with its data, after the stages BEFORE; a stage without a row is a MissingError."""
    stage = recipe.stages[index]
    needs = objective_needs(stage.objective)
    frame, states = _read(stage, source, needs)
    rows = index_rows(frame, needs, words)
    if not len(rows):
        raise MissingError(f"{_names(stage.data.datasets)} has no rows to learn from", hint="`embedlab data check` says what is there")
    keys = rows.columns[needs.together] if needs.together else np.arange(len(rows))
    batch_size = stage.optim.batch_size
    groups = group_rows(keys, batch_size)
    leader = leader_of(recipe.stages, index)
    if leader == index:
        passes = stage.optim.epochs
        epochs = steps_of_epochs(groups, batch_size, passes, seed=seed, stage=index)
    else:
        epochs = epochs_of_steps(groups, batch_size, _steps_in_turn(stage, before[leader], index), seed=seed, stage=index)
        passes = sum(epochs) / len(epoch_batches(groups, batch_size, seed=seed, stage=index, epoch=0))
    return StageData(
        index=index, leader=leader, stage=stage, rows=rows, groups=groups, states=states, seed=seed, epochs=epochs, passes=passes
    )


def leader_of(stages: Sequence[Stage], index: int) -> int:
    """The first of the stages that stage INDEX takes turns with: itself where it is alone."""
    while index > 0 and stages[index].optim.turn and stages[index - 1].optim.turn:
        index -= 1
    return index


def example(data: StageData) -> list[tuple[str, str]]:
    """One example of the stage's first batch in words, as (role, sentence) in the objective's own roles."""
    objective = data.stage.objective
    batch = data.rows.frame[data.batches(0)[0]]
    described: list[tuple[str, str]] = objective_options(objective.name).describe(
        batch, objective.options, np.random.default_rng(data.seed)
    )
    return described


def _steps_in_turn(stage: Stage, leader: StageData, index: int) -> int:
    """The steps of a stage that takes its turn after each whole turn of LEADER."""
    assert leader.stage.optim.turn is not None
    assert stage.optim.turn is not None
    turns = leader.steps // leader.stage.optim.turn
    if turns == 0:
        raise UsageError(
            f"stage {index} never gets its turn: stage {leader.index} has {leader.steps} steps, fewer than its turn",
            hint=f"--set stage.{leader.index}.optim.turn={leader.steps}",
        )
    return turns * stage.optim.turn


def _read(stage: Stage, source: Source, needs: Needs) -> tuple[pl.DataFrame, tuple[State, ...]]:
    parts = [source.open(name, stage.data.split, kind=needs.kinds[0]) for name in stage.data.datasets]
    for part in parts:
        require_columns(needs, part.frame.columns, objective=stage.objective.name, dataset=part.state.name)
    key = needs.together or needs.columns[0]
    frames = [_drawn(part.frame.select(needs.columns), stage.data.rows, key) for part in parts]
    return pl.concat(frames), tuple(part.state for part in parts)


def _drawn(frame: pl.DataFrame, rows: int | None, key: str) -> pl.DataFrame:
    """So many ROWS of a dataset, in its order: rows of an equal KEY together, the keys drawn by chance.

    The first rows of a file are no sample of it: dictionaries are sorted by word, corpora by genre or difficulty.
    The draw is the same for every seed of a run, so that seeds differ by training alone.
    """
    if rows is None or rows >= len(frame):
        return frame
    keys = frame[key].rank("dense").to_numpy() - 1
    chance = np.random.default_rng(0).permutation(keys.max() + 1)
    return frame[np.sort(np.argsort(chance[keys], kind="stable")[:rows])]


def _names(datasets: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in datasets)
