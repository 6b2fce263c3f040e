"""A table of a paper: how each row is produced, which of our numbers corresponds to a printed one,
and the paper's claims.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any, Literal

from embedlab.analysis.claims import Claim
from embedlab.core.names import DEFAULT_TASK
from embedlab.core.overrides import PAPER
from embedlab.core.recipe import Pooling
from embedlab.core.schema import table
from embedlab.models.grammar import Combination

ENCODER = "encoder.model"
NAMES = {"model", "system", "settings"}  # keys of rows that have names


@table
class Deviation:
    """A difference between the paper and its reproduction."""

    what: str
    paper: str
    here: str
    source: str = ""  # where it can be read
    rows: tuple[str, ...] = ()  # where it holds; empty: in all rows


@dataclass(frozen=True, kw_only=True)
class PaperMeasure:
    """The selection of one score in an evaluation."""

    task: str
    slice: str
    metric: str
    setting: str
    split: str | None = None  # None: the reported one, where there are several


@table
class RowModel:
    """How the model of a row is produced; exactly one of the first seven fields is given."""

    recipe: str | None = None
    pooling: Pooling | None = None  # of the untuned encoder
    combine: Combination | None = None
    lacks: str | None = None  # it is not produced, for this reason
    model: str | None = None  # one that needs no training, by its name
    given: str | None = None  # a file of the user's own, which --row names: what it looks like
    # of the rows that are named the best of each column predicts it, seed by seed
    best_of: tuple[str, ...] = ()
    of: tuple[str, ...] = ()  # the combined rows; a row named twice combines pairs of its seeds
    set: dict[str, Any] = field(default_factory=dict)  # other values for keys of the recipe


@table
class RowSource(RowModel):
    """How the model of a table cell is produced."""

    encoder: str | None = None  # for a row about another encoder than the paper's first
    # keys that a search here has decided
    chosen: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Return what distinguishes trainings before any recipe is resolved: the recipe's name and
        the keys set.
        """
        return json.dumps([self.recipe, self.set], sort_keys=True)

    @property
    def is_control(self) -> bool:
        """Return whether it combines two seeds of one method: a row that the paper does not
        print.
        """
        return self.combine is not None and len(set(self.of)) == 1


@dataclass(frozen=True, kw_only=True)
class Point:
    """One number of a table: the measure, and what is set for a training of its column's own."""

    row: str
    column: str
    measure: PaperMeasure
    set: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PaperTable:
    """A table or figure of a paper."""

    paper: str
    name: str
    summary: str
    shown_by: str | None
    key: tuple[str, ...]
    scale: float
    averaged: int
    seeds: int
    by: Literal["source", "dice", "epoch", "minutes"] | None
    datasets: tuple[str, ...]  # of a figure by source; none: all of STS
    columns: tuple[str, ...]
    ranked_by: tuple[tuple[str, ...], ...]  # each: the columns whose mean orders the rows
    average: str | None  # the printed column that is the mean of all others
    sources: Mapping[str, RowSource]  # by row
    points: tuple[Point, ...]
    claims: Mapping[str, Claim]  # by name
    deviations: tuple[Deviation, ...]
    notes: tuple[str, ...]
    printed: Mapping[
        str, Mapping[str, float | None]
    ]  # row → column → printed number; empty for a figure
    profile: str = PAPER  # that of the rows' recipes
    # grid → recipe → the stage whose learning rate that grid chooses
    rates: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    # by `RowSource.key`, the keys that a search here has decided
    chosen: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def last_digit(self) -> float:
        """Return the last digit that is shown: two after the point of percentages, three of
        shares.
        """
        return 0.01 if self.scale > 1 else 0.001

    pairs: tuple[
        tuple[str, str], ...
    ] = ()  # of a table that scores sentence pairs: those of its columns
    folder: str = ""  # of a paper of the user's own, as it was typed

    def source_of(self, row: str, point: Point | None = None) -> RowSource:
        """Return how the model of a row is produced, or that of one POINT of it."""
        own_set = point.set if point is not None else {}
        source = replace(self.sources[row], set={**self.sources[row].set, **own_set})
        return replace(source, chosen=self.chosen.get(source.key, {}))

    @property
    def title(self) -> str:
        """Return how the table is called: by its paper and its name."""
        return f"{self.paper} {self.name}"

    @property
    def address(self) -> str:
        """Return what the paper's files are found by: its name, or the path of the user's own."""
        return self.folder or self.paper

    @property
    def typed(self) -> str:
        """Return what a user types after `embedlab reproduce` for this table."""
        return f"{shlex.quote(self.address)} {self.name}"

    @property
    def tasks(self) -> tuple[str, ...]:
        """Return the tasks that its numbers come from."""
        if self.by in {"epoch", "minutes"}:  # dev scores and times, which the training has
            return ()
        return (
            (DEFAULT_TASK,)
            if self.by is not None
            else tuple(dict.fromkeys(point.measure.task for point in self.points))
        )

    def columns_of(self, claim: Claim) -> tuple[str, ...]:
        """Return the columns whose mean a claim is about: its own, or those that put the rows in
        order.
        """
        return claim.columns or (self.ranked_by[0] if self.ranked_by else ())

    def statement(self, claim: Claim) -> str:
        """Return what is claimed, in a few words; an encoder that both rows share, or what their
        numbers count, is named once in front.
        """
        group, columns = self.group(claim.first), self.columns_of(claim)
        prefix = f"{group}: " if group and group == self.group(claim.second) else ""
        if len(self.key) == 1 and self.key[0] not in NAMES:
            prefix = f"{self.key[0]}: "
        if prefix:
            first, second = (row.removeprefix(f"{group} ") for row in (claim.first, claim.second))
            claim = replace(claim, first=first, second=second)
        column_text = ", ".join(columns) if len(columns) < 8 else f"mean of {len(columns)} columns"
        is_whole = self.by is None and {*self.columns} - {*columns} <= {self.average}
        suffix = "" if is_whole else f" ({column_text})"
        return f"{prefix}{claim.statement}{suffix}"

    def printed_mean(self, row: str, columns: Sequence[str]) -> float | None:
        """Return the printed mean of COLUMNS of a row: the paper's own where it averages just
        these; None where it prints none.
        """
        cells = self.printed.get(row, {})
        printed_average = cells.get(self.average) if self.average is not None else None
        if printed_average is not None and {*cells} - {*columns} == {self.average}:
            return printed_average
        values = [cells.get(column) for column in columns]
        printed = [value for value in values if value is not None]
        return fmean(printed) if printed and len(printed) == len(values) else None

    def printed_difference(self, claim: Claim) -> float | None:
        """Return the printed difference of the rows of a claim, or None where the paper prints
        none.
        """
        columns = self.columns_of(claim)
        first, second = (self.printed_mean(row, columns) for row in (claim.first, claim.second))
        return first - second if first is not None and second is not None else None

    def group(self, row: str) -> str:
        """Return the group within which a row is ranked: its encoder or GLUE task, where several
        columns name a row.
        """
        return row.split(" ")[0] if len(self.key) > 1 else ""
