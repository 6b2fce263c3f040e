"""The data that an objective needs, stated and checked without loading either; what objectives on
premises and hypotheses, and those on labelled texts, state alike.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
import polars as pl
from annotated_types import Ge, Lt

from embedlab.core.errors import UsageError
from embedlab.core.hints import Hint, RecipeValue
from embedlab.core.names import objective_options
from embedlab.core.recipe import ObjectiveSection, RawOptions, Recipe, Stage
from embedlab.data.dataset import COLUMNS, NLI_LABELS, DatasetKind
from embedlab.data.file_name import is_pair_file
from embedlab.data.own_files import RowShape
from embedlab.data.source import dataset


@dataclass(frozen=True, kw_only=True)
class Needs:
    """The columns an objective reads and what must stay together in a batch."""

    sentences: tuple[str, ...]  # columns of sentences to encode
    classes: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # label column → its class names, in index order
    numbers: tuple[str, ...] = ()  # columns of scores
    # absolute value that a score of the user's own rows can have; None: any
    largest: float | None = None
    scale_option: str = ""  # the option that states it
    only: Mapping[str, str] = field(
        default_factory=dict
    )  # label column → the one class whose rows are read; not a column of the loss
    words: tuple[
        str, ...
    ] = ()  # columns of words that must each be one token of the encoder; other rows are left out
    joint: bool = False  # the two sentence columns are encoded together, as the one column "joint"
    # the label column whose classes the trained head predicts of a pair of vectors
    predicts: str | None = None
    together: str | None = None  # rows with the same sentence in this column share a batch
    compares_rows: bool = False  # the loss of a row depends on the other rows of its batch
    # Columns in which a batch must hold two different values together, or its loss is constant;
    # empty where rows are compared: two rows.
    contrasts: tuple[str, ...] = ()
    holds: Mapping[str, str] = field(default_factory=dict)  # label column → class a batch must hold
    # columns that must not have one value throughout; None: all classes, scores and words
    varies: tuple[str, ...] | None = None
    parts_repeats: bool = False  # no batch holds one text in two of its rows
    fixed_vectors: bool = False  # the stage reads vectors that no step changes while it trains
    inert: Mapping[str, str] = field(
        default_factory=dict
    )  # options without effect given the others → the value to give them

    @property
    def encoded(self) -> tuple[str, ...]:
        """The columns of what is encoded."""
        return ("joint",) if self.joint else self.sentences

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns the data must have."""
        return (*self.sentences, *self.classes, *self.numbers, *self.only, *self.words)

    @property
    def shape(self) -> RowShape:
        """The same columns as a user's own files must have them."""
        labels = {**self.classes, **dict.fromkeys(self.only, ())}
        return RowShape(
            texts=(*self.sentences, *self.words),
            labels=labels,
            numbers=dict.fromkeys(self.numbers, self.largest),
        )

    @property
    def kinds(self) -> list[DatasetKind]:
        """The kinds of datasets that have them."""
        return [kind for kind, columns in COLUMNS.items() if set(self.columns) <= set(columns)]


def objective_needs(section: ObjectiveSection) -> Needs:
    """Return the needs of a stage's objective with its options."""
    needs: Needs = objective_options(section.name).needs(section.options)
    return needs


def check_columns(recipe: Recipe) -> None:
    """Refuse a recipe whose data lacks a column that its objective needs, before any of it is read,
    and options without effect.

    A user's own file is checked when it is opened.
    """
    for index, stage in enumerate(recipe.stages):
        if isinstance(stage.objective.options, RawOptions):  # whoever loads its plug-in checks it
            continue
        needs = objective_needs(stage.objective)
        _refuse_inert(needs, f"stage.{index}.objective", stage.objective.name)
        _refuse_lone_rows(needs, stage, "" if len(recipe.stages) == 1 else f"stage.{index}.")
        if needs.fixed_vectors and stage.optim.turn is not None:
            raise UsageError(
                f"'stage.{index}.optim.turn' is set, but standardised vectors must not "
                f"change while the stage trains",
                hint=Hint(
                    "remove turn, or ", RecipeValue(f"stage.{index}.objective.standardise", "false")
                ),
            )
        for name in stage.data.datasets:
            if not is_pair_file(name):
                require_columns(
                    needs,
                    list(COLUMNS[dataset(name).kind]),
                    objective=stage.objective.name,
                    dataset=name,
                )


def require_data(recipe: Recipe) -> None:
    """Refuse a recipe for own rows without any, before its encoder is loaded."""
    for index, stage in enumerate(recipe.stages):
        if not stage.data.names:
            columns = ", ".join(objective_needs(stage.objective).columns)
            key = "data.files" if len(recipe.stages) == 1 else f"stage.{index}.data.files"
            raise UsageError(
                f"recipe {recipe.name!r} trains on files of your own, and none is named",
                hint=Hint(
                    RecipeValue(key, "FILE"),
                    f"; it has columns {columns}, or others that "
                    f"{key.replace('files', 'columns')} maps to them",
                ),
            )


def _refuse_inert(needs: Needs, prefix: str, objective: str) -> None:
    """Refuse an option that the others make ineffective: its user would expect an effect."""
    for option, value in needs.inert.items():
        raise UsageError(
            f"'{prefix}.{option}' has no effect on {objective!r} with its other options",
            hint=Hint(RecipeValue(f"{prefix}.{option}", str(value))),
        )


def _refuse_lone_rows(needs: Needs, stage: Stage, prefix: str) -> None:
    """Refuse batches, or parts of them, of one row where rows are compared with each other."""
    optim = stage.optim
    if not needs.compares_rows or len(needs.contrasts) > 1:  # a triplet has its own negative
        return
    if optim.batch_size <= (optim.accumulate or 1):
        wrong = (
            f"{prefix}optim.batch_size is 1"
            if optim.accumulate is None
            else f"{prefix}optim.accumulate parts {optim.batch_size} rows into {optim.accumulate}"
        )
        raise UsageError(
            f"{wrong}: {stage.objective.name!r} compares a row with the others beside it, and "
            f"there are none",
            hint=Hint(RecipeValue(f"{prefix}optim.batch_size", str(32 * (optim.accumulate or 1)))),
        )


def require_columns(needs: Needs, there: Sequence[str], *, objective: str, dataset: str) -> None:
    """Refuse a dataset without the columns in NEEDS."""
    if missing := [column for column in needs.columns if column not in there]:
        raise UsageError(
            f"objective {objective!r} needs column {missing[0]!r}, which {dataset!r} does "
            f"not have: its columns are {', '.join(there)}",
            hint=f"take a dataset of kind {' or '.join(needs.kinds)}: `embedlab data ls`",
        )


NLI_CLASSES = NLI_LABELS
ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)

# Premises stay together also where only the cross-entropy reads them: the baselines then see the
# same batches as the contrastive recipes, and a premise is encoded once for its three hypotheses.
NEEDS = Needs(
    sentences=("premise", "hypothesis"),
    classes={"label": NLI_CLASSES},
    predicts="label",
    together="premise",
)

# Of the classifier on [u; v; |u−v|]; "two-linear" has nothing between its layers, as in the code of
# liao's authors.
HeadKind = Literal["linear", "two-layer", "two-linear"]


Layers = Literal["two-layer", "none"]  # additional layers between a sentence vector and the task
HeadDropout = Annotated[float, Ge(0), Lt(1)]  # of the input of each linear layer
ScoreLabel = Literal["tenths", "exact", "score"]  # a gold score in place of a class


def labelled_needs(classes: tuple[str, ...] | ScoreLabel, *, joint: bool) -> Needs:
    """The columns of labelled sentences, or of labelled pairs where they are JOINT; the label may
    be a gold score.
    """
    sentences = ("sentence1", "sentence2") if joint else ("sentence",)
    if isinstance(classes, str):
        if not joint:
            raise UsageError(
                f"'objective.classes' {classes!r} are scores of pairs, but 'objective.joint' "
                f"is false",
                hint="set joint = true",
            )
        return Needs(sentences=sentences, numbers=("gold",), joint=True)
    return Needs(sentences=sentences, classes={"label": classes}, joint=joint)


def describe_row(frame: pl.DataFrame, _: Any, rng: np.random.Generator) -> list[tuple[str, str]]:
    """One row of a batch in words, as (column, text): for objectives that do not say more."""
    row = frame.row(int(rng.integers(len(frame))), named=True)
    return [(column, str(text)) for column, text in row.items()]
