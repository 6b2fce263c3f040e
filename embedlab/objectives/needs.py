"""The data that an objective needs, stated and checked without loading either; a frame's rows with
every sentence as an index into the distinct sentences; which sentences of a batch each premise is
pulled to and pushed from, the sets P and N of liao's eq. 2.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
import polars as pl
from annotated_types import Ge, Lt
from numpy.typing import NDArray

from embedlab.core.errors import Hint, RecipeValue, UsageError
from embedlab.core.names import objective_options
from embedlab.core.recipe import ObjectiveSection, Recipe, Stage
from embedlab.data.dataset import COLUMNS, NLI_LABELS, DatasetKind
from embedlab.data.file_name import is_pair_file
from embedlab.data.own_files import RowShape
from embedlab.data.source import dataset
from embedlab.encoders.encoder import Text, TextPair


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
    shared_column: str | None = None  # rows with the same sentence in this column share a batch
    compares_rows: bool = False  # the loss of a row depends on the other rows of its batch
    # Columns in which a batch must hold two different values together, or its loss is constant.
    # Where rows are compared and this is empty, any two rows will do.
    contrasts: tuple[str, ...] = ()
    # columns in each of which it must hold two different values besides
    differing: tuple[str, ...] = ()
    required_classes: Mapping[str, str] = field(
        default_factory=dict
    )  # label column → class a batch must hold
    # columns that must not have one value throughout; None: all classes, scores and words
    varying_columns: tuple[str, ...] | None = None
    parts_repeats: bool = False  # no batch holds one text in two of its rows
    fixed_vectors: bool = False  # the stage reads vectors that no step changes while it trains
    inert_options: Mapping[str, str] = field(
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
        """The columns that a user's own files must have."""
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
        if not stage.objective.is_loaded:  # whoever loads its plug-in checks it
            continue
        needs = objective_needs(stage.objective)
        _refuse_inert(needs, f"stage.{index}.objective", stage.objective.name)
        _refuse_lone_rows(needs, stage, stage_key(recipe, index, ""))
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
            key = stage_key(recipe, index, "data.files")
            raise UsageError(
                f"recipe {recipe.name!r} trains on files of your own, and none is named",
                hint=Hint(
                    RecipeValue(key, "FILE"),
                    f"; it has columns {columns}, or others that "
                    f"{key.replace('files', 'columns')} maps to them",
                ),
            )


def stage_key(recipe: Recipe, index: int, key: str) -> str:
    """Return the KEY of a stage as a user types it: with the number only where it has others."""
    return key if len(recipe.stages) == 1 else f"stage.{index}.{key}"


def _refuse_inert(needs: Needs, prefix: str, objective: str) -> None:
    """Refuse an option that the others make ineffective: its user would expect an effect."""
    for option, value in needs.inert_options.items():
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
        problem = (
            f"{prefix}optim.batch_size is 1"
            if optim.accumulate is None
            else f"{prefix}optim.accumulate parts {optim.batch_size} rows into {optim.accumulate}"
        )
        raise UsageError(
            f"{problem}: {stage.objective.name!r} compares a row with the others beside it, and "
            f"there are none",
            hint=Hint(RecipeValue(f"{prefix}optim.batch_size", str(32 * (optim.accumulate or 1)))),
        )


def require_columns(needs: Needs, columns: Sequence[str], *, objective: str, dataset: str) -> None:
    """Refuse a dataset without the columns in NEEDS."""
    if missing_columns := [column for column in needs.columns if column not in columns]:
        raise UsageError(
            f"objective {objective!r} needs column {missing_columns[0]!r}, which {dataset!r} does "
            f"not have: its columns are {', '.join(columns)}",
            hint=f"take a dataset of kind {' or '.join(needs.kinds)}: `embedlab data ls`",
        )


ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)

# Premises stay together also where only the cross-entropy reads them: the baselines then see the
# same batches as the contrastive recipes, and a premise is encoded once for its three hypotheses.
NEEDS = Needs(
    sentences=("premise", "hypothesis"),
    classes={"label": NLI_LABELS},
    predicts="label",
    shared_column="premise",
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


WordIds = Callable[[Sequence[str]], NDArray[np.int64]]
"""The token id of each word, −1 where the word is not exactly one known token."""


@dataclass(frozen=True, kw_only=True)
class NumberedRows:
    """A frame as objectives read it: sentences, classes and words are numbered."""

    frame: pl.DataFrame  # the rows that were numbered, as they were
    # distinct, in the order they first appear; of texts that are encoded together a struct of first
    # and second
    sentences: pl.Series
    # (rows,) each: sentence → index into sentences, class → its index, word → its token; scores are
    # float32
    columns: dict[str, NDArray[Any]]
    left_out: int = 0  # rows whose word is not one token

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def texts(self) -> list[Text]:
        """The distinct sentences, or pairs of texts, as an encoder takes them."""
        if not isinstance(self.sentences.dtype, pl.Struct):
            return self.sentences.to_list()
        columns = (self.sentences.struct.field(name) for name in ("first", "second"))
        return [
            TextPair(first=first, second=second) for first, second in zip(*columns, strict=True)
        ]

    def at(self, index: int | np.integer) -> str:
        """One distinct sentence."""
        return str(self.sentences[int(index)])


def index_rows(frame: pl.DataFrame, needs: Needs, word_ids: WordIds | None = None) -> NumberedRows:
    """Number the sentences, classes and words of FRAME; a class that NEEDS does not name is
    refused.

    Without WORD_IDS no row is skipped, and words are numbered by their first appearance.
    """
    total = len(frame)
    for column in needs.words:
        frame = frame.with_columns(_word_ids(frame[column], word_ids).alias(f"{column} id")).filter(
            pl.col(f"{column} id") >= 0
        )
    if needs.joint:
        first, second = needs.sentences
        frame = frame.with_columns(
            joint=pl.struct(pl.col(first).alias("first"), pl.col(second).alias("second"))
        )
    texts = [frame[column].rename("sentence") for column in needs.encoded]
    distinct = pl.concat(texts).unique(maintain_order=True)
    columns: dict[str, NDArray[Any]] = {
        column: _places(text, distinct) for column, text in zip(needs.encoded, texts, strict=True)
    }
    columns |= {
        column: _class_index(frame[column], classes) for column, classes in needs.classes.items()
    }
    columns |= {
        column: frame[column].cast(pl.Float32).to_numpy(writable=True) for column in needs.numbers
    }
    columns |= {column: frame[f"{column} id"].to_numpy(writable=True) for column in needs.words}
    return NumberedRows(
        frame=frame.select(needs.columns),
        sentences=distinct,
        columns=columns,
        left_out=total - len(frame),
    )


def _places(values: pl.Series, distinct: pl.Series) -> NDArray[np.int64]:
    """Return the index of each of VALUES among the DISTINCT ones."""
    number = pl.DataFrame({"value": distinct}).with_row_index("index")
    indices = pl.DataFrame({"value": values}).join(
        number, on="value", how="left", maintain_order="left"
    )["index"]
    return indices.to_numpy().astype(np.int64)


def _word_ids(values: pl.Series, word_ids: WordIds | None) -> pl.Series:
    distinct = values.unique(maintain_order=True)
    ids = word_ids(distinct.to_list()) if word_ids is not None else np.arange(len(distinct))
    return pl.Series(ids[_places(values, distinct)], dtype=pl.Int64)


def _class_index(values: pl.Series, classes: tuple[str, ...]) -> NDArray[np.int64]:
    texts = values.cast(pl.String)
    index = texts.replace_strict(
        list(classes), list(range(len(classes))), default=None, return_dtype=pl.Int64
    )
    if index.null_count():
        row = int(index.is_null().to_numpy().argmax())
        raise UsageError(
            f"row {row}: {values.name!r} is {texts[row]!r}",
            hint=f"the classes are {', '.join(classes)}",
        )
    return index.to_numpy(writable=True)


Limit = Literal["all"] | Annotated[int, Ge(1)]  # at most this many of a set, drawn uniformly

Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class AnchorSets:
    """The anchors of a batch and, over its distinct sentences, the positives and negatives of
    each.
    """

    anchors: Indices  # (anchors,) position of each distinct premise
    positives: Mask  # (anchors, sentences)
    negatives: Mask  # (anchors, sentences)
    # (anchors, sentences) the class of anchor and sentence as a pair; meaningful within the sets
    classes: Indices

    def with_positives(self) -> "AnchorSets":
        """Only the anchors that have a positive: eq. 2 says nothing of the others."""
        has_positive = self.positives.any(axis=1)
        return AnchorSets(**{name: values[has_positive] for name, values in vars(self).items()})


def anchor_sets(
    columns: Mapping[str, Indices], positives: Limit, negatives: Limit, rng: np.random.Generator
) -> AnchorSets:
    """The sets of every distinct premise among rows of NLI pairs, whose COLUMNS hold sentence
    positions and class indices; at most so many POSITIVES and NEGATIVES are drawn.

    Positives are the distinct hypotheses that the premise entails. Negatives are its neutral and
    contradicted hypotheses and the hypotheses of the batch's other premises. A sentence that the
    premise entails is never its negative, whatever another row says of it, and neither is the
    premise itself: a sentence entails itself. A pair with another premise's hypothesis counts as a
    contradiction: the paper does not give its label.
    """
    premise, hypothesis, label = (columns[name] for name in NEEDS.columns)
    anchors, row_anchor = np.unique(premise, return_inverse=True)
    sentences = int(max(premise.max(), hypothesis.max())) + 1
    classes = np.full((len(anchors), sentences), CONTRADICTION)
    for kind in (
        NEUTRAL,
        CONTRADICTION,
        ENTAILMENT,
    ):  # where two rows disagree on a pair, the later of these holds
        rows = label == kind
        classes[row_anchor[rows], hypothesis[rows]] = kind
    entailed = classes == ENTAILMENT
    is_hypothesis = np.zeros(sentences, dtype=bool)
    is_hypothesis[hypothesis] = True
    candidates = ~entailed & is_hypothesis
    candidates[np.arange(len(anchors)), anchors] = False
    return AnchorSets(
        anchors=anchors,
        positives=sample_subset(entailed, positives, rng),
        negatives=sample_subset(candidates, negatives, rng),
        classes=classes,
    )


def entailment_sets(
    columns: Mapping[str, Indices], positives: Limit, negatives: Limit, rng: np.random.Generator
) -> AnchorSets:
    """The sets of every row labelled entailment, as in the code of liao's authors: a premise that
    entails three is three anchors.

    The row's own hypothesis is always among the positives; the others are drawn from what its
    premise entails. Negatives are those of the premise.
    """
    all_sets, rows = anchor_sets(columns, "all", "all", rng), columns["label"] == ENTAILMENT
    premise, entailed = columns["premise"][rows], columns["hypothesis"][rows]
    anchor = np.searchsorted(all_sets.anchors, premise)
    other_positives, is_row = all_sets.positives[anchor], np.arange(len(anchor))
    other_positives[is_row, entailed] = False
    positive_sets = (
        np.zeros_like(other_positives)
        if positives == 1
        else sample_subset(other_positives, positives if positives == "all" else positives - 1, rng)
    )
    positive_sets[is_row, entailed] = True
    return AnchorSets(
        anchors=premise,
        positives=positive_sets,
        negatives=sample_subset(all_sets.negatives[anchor], negatives, rng),
        classes=all_sets.classes[anchor],
    )


def sample_subset(mask: Mask, limit: Limit, rng: np.random.Generator) -> Mask:
    """Keep at most LIMIT of each row's set entries, each subset of that size equally likely."""
    if limit == "all" or limit >= mask.shape[1]:
        return mask
    keys = np.where(mask, rng.random(mask.shape), np.inf)
    return mask & (keys <= np.partition(keys, limit - 1)[:, limit - 1 : limit])
