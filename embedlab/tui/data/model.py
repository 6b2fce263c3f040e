"""Which items the Data room shows, in which order, and what is known of one. Without Textual."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.expressions import with_terms
from embedlab.analysis.rank_errors import rank_errors
from embedlab.analysis.word_effects import percentile_ranks
from embedlab.core.printable import first_few
from embedlab.encoders.encoder import Vectors
from embedlab.outcomes.property import property_named
from embedlab.outcomes.selection import ItemSelection, items_that_fit
from embedlab.tui.theme import model_colour, model_sign
from embedlab.tui.workbench import ShownItems

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

GOLD, DICE, GAP, FILE = "gold", "dice", "gap", "file order"
BINS = 24
_WORD = re.compile(r"\w+(?:['’]\w+)*|\S")
_MOST_NEIGHBOURS, _MOST_NEAREST = 4, 4


class Facts:
    """Numbers of all items that are computed once for what is shown, when they are first used."""

    def __init__(self, shown: ShownItems) -> None:
        assert shown.outcomes is not None
        self.shown, self.outcomes = shown, shown.outcomes
        self.blocks = self.outcomes.block_of_rows
        self.predictions = {
            model.name: _floats(shown.similarities[model.name]) for model in shown.columns
        }

    @cached_property
    def gold(self) -> Floats:
        """The score, the index of the class or the number of the query; nan where unknown."""
        return _floats(self.outcomes.rows["gold"])

    @cached_property
    def dice(self) -> Floats:
        """The overlap of the words of both sentences; nan of single sentences."""
        return _floats(property_named("dice").values(self.outcomes))

    @cached_property
    def ranks(self) -> Mapping[str, Floats]:
        """The error of each model, and how far apart they rank each pair; with one model how far it
        is from gold.
        """
        if not self.shown.columns:
            return {}
        names = {str(index): model.name for index, model in enumerate(self.shown.columns)}
        scores = {
            key: self.outcomes.only_scores(self.shown.similarities[name])
            for key, name in names.items()
        }
        columns = {"dataset": self.outcomes.rows["block"], GOLD: self.outcomes.column(GOLD)}
        frame = rank_errors(pl.DataFrame({**columns, **scores}), list(scores))
        errors = {name: _floats(frame[f"error({key})"]) for key, name in names.items()}
        return {**errors, GAP: _floats(frame[GAP] if len(names) > 1 else frame["error(0)"].abs())}

    @cached_property
    def sentences(self) -> list[str]:
        """The distinct sentences of all items."""
        columns = [self.outcomes.column(name) for name in ("sentence1", "sentence2")]
        return pl.concat(columns).drop_nulls().unique(maintain_order=True).to_list()

    @cached_property
    def vectors(self) -> tuple[str, Vectors] | None:
        """The first model with a vector of each sentence, and these, of length 1."""
        return self.shown.vectors(self.sentences)

    def nearest(self, sentence: str) -> tuple[str, list[tuple[float, str]]]:
        """The model by whose vectors these other sentences are nearest to SENTENCE, with their
        cosines; none where no model has vectors of all sentences. The first time takes a moment.
        """
        if not sentence or self.vectors is None:
            return "", []
        model, vectors = self.vectors
        index = self.sentences.index(sentence)
        cosines = vectors @ vectors[index]
        cosines[index] = -np.inf
        order = np.argsort(-cosines)[:_MOST_NEAREST]
        return model, [
            (float(cosines[neighbour]), self.sentences[neighbour]) for neighbour in order
        ]

    def numbers(self, name: str) -> Floats:
        """The numbers called NAME: gold, dice, gap, or a model."""
        if name in {GOLD, DICE}:
            numbers: Floats = getattr(self, name)
            return numbers
        found = self.ranks if name == GAP else self.predictions
        return found.get(name, np.full(self.shown.items, np.nan))

    def text(self, value: float, row: int, *, is_gold: bool) -> str:
        """A number of gold or of a model as it is read: the name of a class, a rank, a score."""
        if not np.isfinite(value):
            return "·"
        classes = self.outcomes.blocks[self.blocks[row]].classes
        if classes and float(value).is_integer() and 0 <= value < len(classes):
            return str(classes[int(value)])
        return f"{value:z.2f}" if is_gold else f"{value:z.3f}"


def _floats(values: pl.Series) -> Floats:
    return values.cast(pl.Float64).fill_null(np.nan).to_numpy()


@dataclass(frozen=True, kw_only=True, eq=False)
class View:
    """The items that a filter leaves, in order."""

    facts: Facts
    rows: Rows
    expression: str = ""
    dataset: str | None = None
    sort: str = FILE
    is_descending: bool = True
    selection: ItemSelection | None = None  # None: all items of all datasets


def view_of(
    facts: Facts, expression: str, dataset: str | None, sort: str, *, is_descending: bool
) -> View:
    """The items of DATASET, None for all, that fit EXPRESSION, sorted; an expression that cannot be
    read is a UsageError.
    """
    shown = facts.shown
    is_all = np.ones(shown.items, dtype=np.bool_)
    selection = ItemSelection(is_selected=is_all, is_by_results=False, datasets_without=())
    if expression.strip():
        models = {model.name: model.members for model in shown.columns}
        selection = items_that_fit(facts.outcomes, expression, models)
    alone = dataset if dataset in shown.datasets else None
    if alone is not None:
        is_of_dataset = facts.blocks == shown.datasets.index(alone)
        selection = replace(selection, is_selected=selection.is_selected & is_of_dataset)
    rows = np.flatnonzero(selection.is_selected)
    if sort != FILE:
        keys = facts.numbers(sort)[rows]
        order = np.argsort(-keys if is_descending else keys, kind="stable")  # nan is last
        rows = rows[order]
    elif not is_descending:
        rows = rows[::-1]
    return View(
        facts=facts,
        rows=rows,
        expression=expression,
        dataset=alone,
        sort=sort,
        is_descending=is_descending,
        selection=selection if expression.strip() or alone is not None else None,
    )


def no_match_hint(view: View) -> str:
    """What to type where no item matches: names are read whole, unless they end with *."""
    values_of_field: dict[str, list[str]] = {
        name: column.drop_nulls().unique(maintain_order=True).to_list()
        for name, column in view.facts.outcomes.computed.items()  # by the filter, too
        if column.dtype == pl.String
    }
    values_of_field["dataset"] = list(view.facts.shown.datasets)
    for name, typed in re.findall(r'([\w-]+):"?([^\s"*,]+)', view.expression):
        values = values_of_field.get(name, [])
        if beginning := [value for value in values if value.startswith(typed) and value != typed]:
            return f"`{name}:{typed}*` finds {first_few(beginning, 6)}"
        if values and typed not in values:
            return f"values of {name}: {first_few(values, 6)}"
    return "esc clears the filter"


def sort_orders(facts: Facts) -> list[str]:
    """The orders that `s` goes through, the largest disagreements first."""
    return list(dict.fromkeys([GAP, GOLD, DICE, *facts.predictions, FILE]))


@dataclass(frozen=True, kw_only=True)
class Bins:
    """A histogram: how many of the shown items and of all are in each bin."""

    low: float
    high: float
    shown: tuple[int, ...]
    whole: tuple[int, ...]

    def edge(self, index: int) -> float:
        """The lower edge of the bin at INDEX."""
        return self.low + (self.high - self.low) * index / len(self.whole)


def bins_of(view: View, name: str, count: int = BINS) -> Bins | None:
    """The histogram of the numbers called NAME that a filter reads, neither classes nor the gap of
    one model; None where there are none.
    """
    values = view.facts.numbers(name)
    if name == GOLD:
        values = _floats(view.facts.outcomes.column(GOLD))
    finite = values[np.isfinite(values)]
    is_other = name == GAP and len(view.facts.shown.columns) == 1
    if is_other or not len(finite) or finite.min() == finite.max():
        return None
    limits = float(finite.min()), float(finite.max())
    whole_counts, _ = np.histogram(finite, count, limits)
    picked = values[view.rows]
    shown_counts, _ = np.histogram(picked[np.isfinite(picked)], count, limits)
    return Bins(
        low=limits[0],
        high=limits[1],
        shown=tuple(shown_counts.tolist()),
        whole=tuple(whole_counts.tolist()),
    )


def with_range(expression: str, name: str, ends: tuple[float, float] | None) -> str:
    """EXPRESSION with the range between ENDS of the field NAME in place of an earlier one of it;
    without ENDS there is none.
    """
    terms = []
    if ends is not None:
        low, high = np.floor(ends[0] * 1000) / 1000, np.ceil(ends[1] * 1000) / 1000
        terms.append(f"{low:g}<={name}<={high:g}")
    without = re.sub(rf"\S*<=?{re.escape(name)}<=?\S*\s*", "", expression)
    return with_terms(without, terms)


def words_only_here(sentence: str, other: str) -> Sequence[tuple[str, bool]]:
    """The parts of SENTENCE with whether each is a word that OTHER lacks."""
    other_words = {word.casefold() for word in _WORD.findall(other)}
    pieces: list[tuple[str, bool]] = []
    for text in re.findall(rf"{_WORD.pattern}|\s+", sentence):
        is_only = text[0].isalnum() and text.casefold() not in other_words
        if pieces and pieces[-1][1] == is_only:
            text = pieces.pop()[0] + text
        pieces.append((text, is_only))
    return pieces


@dataclass(frozen=True)
class Bar:
    """A number of an item: gold, Dice, or what a model got."""

    name: str
    colour: str
    text: str
    share: float  # of the bar, -1 to 1; nan where there is none
    rank: float = np.nan  # percentile within the dataset
    error: float = np.nan  # of the rank, in points


@dataclass(frozen=True, kw_only=True)
class Item:
    """One item with all that is known of it."""

    title: str
    source: str
    sentences: tuple[str, ...]
    bars: Sequence[Bar]
    trained: str
    neighbours: Sequence[tuple[str, str]] = ()  # gold, the other sentence


def item_of(facts: Facts, row: int) -> Item:
    """What is known of the item in ROW."""
    outcomes = facts.outcomes
    block = outcomes.blocks[facts.blocks[row]]
    sentences = [outcomes.column(name)[row] for name in ("sentence1", "sentence2", "contradicted")]
    is_in_block = facts.blocks == facts.blocks[row]
    in_block = facts.gold[is_in_block]
    low, high = min(np.nanmin(in_block), 0.0), np.nanmax(in_block)
    is_class = bool(block.classes) or not high > low

    def bar(name: str, colour: str, values: Floats, share: float, error: float = np.nan) -> Bar:
        finite_values = values[is_in_block & np.isfinite(values)]
        is_ranked = not is_class and np.isfinite(values[row])
        rank = float(percentile_ranks(values[row], finite_values)) if is_ranked else np.nan
        text = facts.text(values[row], row, is_gold=values is facts.gold)
        return Bar(name, colour, text, share, rank, error)

    gold_share = np.nan if is_class else float((facts.gold[row] - low) / (high - low))
    bars = [bar("  gold", "$gold", facts.gold, gold_share)]
    for name, values in facts.predictions.items():
        position = facts.shown.models.index(name)
        share = values[row] if -1 <= values[row] <= 1 else np.nan
        error = float(facts.ranks[name][row]) if name in facts.ranks else np.nan
        title = f"{model_sign(position)} {name}"
        bars.append(bar(title, model_colour(position), values, float(share), error))
    if DICE not in facts.predictions and np.isfinite(dice := facts.dice[row]):
        bars.append(Bar("  Dice", "$faint", f"{dice:.2f}", float(dice)))
    return Item(
        title=f"{block.dataset} · item {outcomes.rows['item'][row]}",
        source=outcomes.rows["source"][row] or "",
        sentences=tuple(text for text in sentences if text is not None),
        bars=bars,
        trained=outcomes.column("trained")[row] or "",
        neighbours=_neighbours(facts, row),
    )


def _neighbours(facts: Facts, row: int) -> list[tuple[str, str]]:
    """Other items with one of the item's sentences: gold and the other sentence."""
    rows = facts.outcomes.rows
    own_texts = {rows["first_text"][row], rows["second_text"][row]} - {None}
    neighbour_rows = rows.with_row_index("row").filter(
        (pl.col("first_text").is_in(own_texts) | pl.col("second_text").is_in(own_texts))
        & (pl.col("row") != row)
    )
    first_sentences, second_sentences = (
        facts.outcomes.column(name) for name in ("sentence1", "sentence2")
    )
    neighbours = []
    for neighbour, first_text in (
        neighbour_rows.head(_MOST_NEIGHBOURS).select("row", "first_text").iter_rows()
    ):
        text = (
            second_sentences[neighbour] if first_text in own_texts else first_sentences[neighbour]
        )
        gold = facts.text(facts.gold[neighbour], neighbour, is_gold=True)
        neighbours.append((gold, text or first_sentences[neighbour] or ""))
    return neighbours
