"""Why two models differ on what is selected: the rows of each pane, and the pairs or items behind
each. State without Textual.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isnan

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.comparison import ComparedSlice, Difference
from embedlab.analysis.evidence import member_columns
from embedlab.analysis.expressions import with_terms
from embedlab.analysis.scores import ModelColumns
from embedlab.analysis.seed_notes import REACHES
from embedlab.comparison.combinations import Tested
from embedlab.comparison.evidence import outcome_evidence, slices_of
from embedlab.comparison.explanation import FEWEST, Explanation, Side, explained
from embedlab.comparison.in_common import Common
from embedlab.comparison.uneven import Kind, Uneven
from embedlab.core.errors import UsageError
from embedlab.core.names import DEFAULT_TASK
from embedlab.core.progress import StartProgress, unseen
from embedlab.core.settings import Settings
from embedlab.data.sts import STS_AVERAGES
from embedlab.outcomes.frame import Outcomes
from embedlab.tasks.task import scale_of
from embedlab.tui.pair_scores import pair_outcomes
from embedlab.tui.pair_table.view import PairSelection, PairView, RowNumbers, ShownSlice

HALVES_SEED = 0  # as the command line draws the halves that combinations are searched and tested on
TYPICAL = 5  # of each side
SURE = 12  # facts that a side has in common with itself, at most
PANES = ("where", "common", "typical", "seeds")


@dataclass(frozen=True, kw_only=True, eq=False)
class WhyRow:
    """One line of a pane, and what it selects; a line without rows says something alone."""

    cells: tuple[str, ...]
    rows: RowNumbers | None = None  # of the pair table
    expression: str = ""  # that picks them, where one does
    is_by_results: bool = False
    is_sure: bool = False  # after its correction

    def opened(self) -> ShownSlice | None:
        """The pairs or items behind the line."""
        if self.rows is None:
            return None
        return ShownSlice(
            title=self.cells[0],
            rows=self.rows,
            expression=self.expression,
            is_by_results=self.is_by_results,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class WhyPane:
    """The lines of one pane below their titles."""

    titles: tuple[str, ...]
    rows: tuple[WhyRow, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Reasons:
    """What is known of the difference between two models on what was selected."""

    first: str
    second: str
    items: int
    panes: dict[str, WhyPane]


class WhyModel:
    """What the screen explains, and which of its panes is active."""

    def __init__(self) -> None:
        self.reasons: Reasons | None = None  # of the last request, once they are known
        self.active = PANES[0]
        self._requested: tuple[object, ...] | None = None

    def begin(self, request: tuple[object, ...] | None) -> bool:
        """Forget what was explained for another REQUEST, or for none; return whether this one is to
        be explained now.
        """
        if request is not None and request == self._requested:
            return False
        self._requested, self.reasons = request, None
        return request is not None

    def take(self, request: tuple[object, ...], reasons: Reasons) -> bool:
        """Take the REASONS of a request; return whether it is still the last one."""
        if request != self._requested:
            return False
        self.reasons = reasons
        return True

    def pane(self, name: str) -> WhyPane:
        """The pane of this NAME, without lines until they are known."""
        return self.reasons.panes[name] if self.reasons is not None else WhyPane(titles=(), rows=())

    def next_pane(self, by: int) -> None:
        """Go to another pane."""
        self.active = PANES[(PANES.index(self.active) + by) % len(PANES)]


def two_models(names: Sequence[str], reference: str | None) -> tuple[str, str] | None:
    """Return the two models of NAMES that are explained: the REFERENCE and the first other one;
    None where there are no two.
    """
    others = [name for name in names if name != reference]
    return (reference, others[0]) if reference is not None and others else None


def find_reasons(
    view: PairView, first: str, second: str, settings: Settings, progress: StartProgress = unseen
) -> Reasons:
    """Explain the difference of the model SECOND from FIRST on what VIEW selects, as `embedlab why`
    does.

    What was chosen by results would explain itself, and is refused.
    """
    if view.is_by_results:
        raise UsageError(
            f"{view.title} is chosen by results, which would explain themselves",
            hint="select by properties alone",
        )
    models = [model for name in (first, second) for model in view.data.models if model.name == name]
    outcomes, places = _common_outcomes(view, models, settings)
    selection = None if view.is_whole else replace(view.picked(), holds=view.holds[places])
    members = member_columns(models)
    evidence = outcome_evidence(
        outcomes, members, slices_of(outcomes, members, selection=selection)
    )
    if all(np.isnan(each.points).any() for each in evidence):
        raise UsageError(
            f"no dataset of {view.title or 'these pairs'} has a score of both models",
            hint="select more",
        )
    rng = np.random.default_rng(HALVES_SEED)
    explanation = explained(
        outcomes, models, evidence, selection, rng=rng, examples=TYPICAL, progress=progress
    )
    kinds = {(kind.by, kind.value): kind for kind in explanation.kinds}
    among = explanation.errors.known & (selection.holds if selection is not None else True)
    build = _Panes(
        found=explanation, kinds=kinds, among=among, places=places, view=view, models=models
    )
    panes = {
        "where": build.where(),
        "common": build.common(),
        "typical": build.typical(),
        "seeds": build.seeds(),
    }
    return Reasons(first=first, second=second, items=explanation.items, panes=panes)


def _common_outcomes(
    view: PairView, models: Sequence[ModelColumns], settings: Settings
) -> tuple[Outcomes, RowNumbers]:
    """Return the datasets of VIEW that both MODELS did whole, and the row of the pair table of each
    row.
    """
    members, data = member_columns(models), view.data
    table = data.table.with_row_index("row")
    frame = (
        table
        if data.items is None
        else table.with_columns(data.items.predictions[member] for member in members)
    )
    frame = frame.filter(
        pl.all_horizontal(pl.col(members).fill_nan(None).is_not_null()).all().over("dataset")
    )
    if frame.is_empty():
        raise UsageError(
            "no dataset is scored whole by both models",
            hint="score the models on the same datasets",
        )
    rows = frame["row"].to_numpy().astype(np.intp)
    if data.items is None:
        return pair_outcomes(
            frame, members, task=DEFAULT_TASK, averages=STS_AVERAGES, cache=settings.cache
        ), rows
    return _restricted(data.items, rows), rows


def _restricted(outcomes: Outcomes, rows: RowNumbers) -> Outcomes:
    """Return whole datasets of OUTCOMES alone, those of ROWS."""
    there = sorted({int(block) for block in outcomes.block_of_rows[rows]})
    numbers = {block: index for index, block in enumerate(there)}
    frame = outcomes.rows[rows].with_columns(
        pl.col("block").replace_strict(numbers, return_dtype=pl.UInt16)
    )
    return replace(
        outcomes,
        rows=frame,
        predictions=outcomes.predictions[rows],
        blocks=tuple(outcomes.blocks[block] for block in there),
        sentences=outcomes.sentences[rows],
        trained=lambda _: outcomes.column("trained")[rows],
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Panes:
    """Builds the panes of an explanation."""

    found: Explanation
    kinds: dict[tuple[str, str], Kind]
    among: NDArray[np.bool_]  # rows of the explanation that both models are known on
    places: RowNumbers  # of the pair table
    view: PairView
    models: Sequence[ModelColumns]

    @property
    def _scale(self) -> float:
        return scale_of(self.found.whole.task, self.found.whole.metric)

    def where(self) -> WhyPane:
        """The kinds of items on which the lead is most unlike that elsewhere, then confirmed
        combinations.
        """
        whole = self.found.whole
        rows = [WhyRow(cells=self._cells("all", self.found.items, whole, None))]
        rows += [self._uneven_row(uneven) for uneven in self.found.uneven]
        rows += [self._tested_row(tested) for tested in self.found.search.confirmed]
        kinds, sure = (
            len(self.found.uneven),
            sum(uneven.contrast.significant for uneven in self.found.uneven),
        )
        reach = REACHES[self.found.uneven[0].contrast.reach] if self.found.uneven else "*"
        notes = [
            f"{reach} 5% after Holm over {kinds} kinds of items, of which {sure or 'none'} "
            f"{'are' if sure > 1 else 'is'} clear"
        ]
        tested = self.found.search.tested
        if tested and not self.found.search.confirmed:
            notes.append(
                f"no combination of two properties is confirmed on other topics, of "
                f"{len(tested)} that were tested"
            )
        return WhyPane(
            titles=("items", "n", "A", "B", "B − A", "more than elsewhere"),
            rows=tuple(rows),
            notes=tuple(notes),
        )

    def _cells(
        self, title: str, items: int, on: ComparedSlice, contrast: Difference | None
    ) -> tuple[str, ...]:
        """The cells of a kind of items: each model there, their difference, and how it differs from
        that elsewhere.
        """
        scale, difference = self._scale, on.differences[self.found.second]
        numbers = [
            f"{scale * on.scores[name].value:z.1f}"
            for name in (self.found.first, self.found.second)
        ]
        said = _interval(scale, difference.delta, difference.low, difference.high)
        more = (
            ""
            if contrast is None
            else _interval(scale, contrast.delta, contrast.low, contrast.high) + contrast.reach_sign
        )
        return (title, f"{items:,}", *numbers, said, more)

    def _uneven_row(self, uneven: Uneven) -> WhyRow:
        kind = self.kinds.get((uneven.by, uneven.value))
        rows = None if kind is None else self.places[np.sort(kind.rows)]
        expression = "" if rows is None else self._named(f"{uneven.by}:{uneven.value}", rows)
        cells = self._cells(uneven.title, uneven.items, uneven.slice, uneven.contrast)
        return WhyRow(
            cells=cells, rows=rows, expression=expression, is_sure=uneven.contrast.significant
        )

    def _tested_row(self, tested: Tested) -> WhyRow:
        cells = self._cells(
            f"{tested.found.title} (the tested half)",
            tested.found.items,
            tested.found.slice,
            tested.found.contrast,
        )
        return WhyRow(
            cells=cells, rows=self.places[np.sort(tested.rows)], is_sure=tested.is_confirmed
        )

    def _named(self, term: str, rows: RowNumbers) -> str:
        """The TERM if it picks exactly ROWS of what is selected; empty otherwise."""
        if " " in term:
            return ""
        alone = PairView(data=self.view.data)
        try:
            alone.select(PairSelection(expression=with_terms("", [term])))
        except UsageError:  # a number, which has no names
            return ""
        scope = np.zeros(self.view.data.table.height, dtype=bool)
        scope[self.places] = True
        return (
            term
            if np.array_equal(np.flatnonzero(alone.holds & self.view.holds & scope), rows)
            else ""
        )

    def common(self) -> WhyPane:
        """What the items have in common on which one model alone is right."""
        rows: list[WhyRow] = []
        for side, letter in zip(self.found.sides, ("A", "B"), strict=True):
            side_rows = self._side_rows(letter)
            rows.append(
                WhyRow(
                    cells=(f"{letter} alone is right", f"{side.items:,}", "", "", ""),
                    rows=self.places[side_rows],
                    is_by_results=True,
                )
            )
            if not side.common:
                rows.append(
                    WhyRow(
                        cells=(
                            f"  fewer than {FEWEST}: too few to have something in common",
                            "",
                            "",
                            "",
                            "",
                        )
                    )
                )
            rows += [self._common_row(common, letter, side_rows) for common in _surest(side)]
        notes = (
            "* 5% after Holm over all shares of a side, or by the number of words; how seeds "
            "vary is not counted",
        )
        return WhyPane(
            titles=("items", "n", "share", "elsewhere", "difference in points"),
            rows=tuple(rows),
            notes=notes,
        )

    def _side_rows(self, letter: str) -> NDArray[np.intp]:
        only = self.found.errors.only_a if letter == "A" else self.found.errors.only_b
        return np.flatnonzero(only & self.among)

    def _common_row(self, common: Common, letter: str, side_rows: NDArray[np.intp]) -> WhyRow:
        sign = "*" if common.significant else ""
        shares = f"{100 * common.share:z.0f}%", f"{100 * common.elsewhere:z.0f}%"
        cells = (
            f"  {letter}: {common.title}",
            f"{common.items:,}",
            *shares,
            _interval(100, common.difference, common.low, common.high) + sign,
        )
        holds = self._fact_rows(common)
        rows = None if holds is None else self.places[np.intersect1d(side_rows, holds)]
        return WhyRow(cells=cells, rows=rows, is_by_results=True, is_sure=common.significant)

    def _fact_rows(self, common: Common) -> NDArray[np.intp] | None:
        """The rows that a fact is true of; None where they are not known again."""
        if common.by == "error":
            errors = self.found.errors.errors[
                0 if common.title.startswith(f"{self.found.first} ") else 1
            ]
            return np.flatnonzero(np.nan_to_num(errors) > 0)
        if common.by == "word":
            word = common.title.removeprefix("word ").strip("'\"")
            words = pl.col("sentence1", "sentence2").str.to_lowercase().str.extract_all(r"\w+")
            has = self.found.outcomes.sentences.select(
                pl.any_horizontal(words.list.contains(word).fill_null(value=False))
            )
            return np.flatnonzero(has.to_series().to_numpy())
        kind = next(
            (
                kind
                for kind in self.kinds.values()
                if (kind.by, kind.title) == (common.by, common.title)
            ),
            None,
        )
        return None if kind is None else kind.rows

    def typical(self) -> WhyPane:
        """The items on which one model leads the other by most, one a topic."""
        rows = []
        for side, letter in zip(self.found.sides, ("A", "B"), strict=True):
            for row in side.typical:
                sentences = self.found.outcomes.sentences.row(row)
                texts = tuple(text or "" for text in sentences[:2])
                rows.append(
                    WhyRow(
                        cells=(f"{letter} alone is right", *texts),
                        rows=self.places[[row]],
                        is_by_results=True,
                    )
                )
        return WhyPane(titles=("typical", "sentence 1", "sentence 2"), rows=tuple(rows))

    def seeds(self) -> WhyPane:
        """How many items change sides with another seed."""
        rows = [
            WhyRow(
                cells=(
                    steadiness.model,
                    str(steadiness.seeds),
                    f"{steadiness.items:,}",
                    f"{100 * steadiness.changed:z.0f}%",
                )
            )
            for steadiness in self.found.steadiness
        ]
        notes = (
            ()
            if rows
            else (
                "neither model has two seeds: how many items change sides with the seed is unknown",
            )
        )
        titles = (
            "model",
            "seeds",
            "items that one alone gets right",
            "on another side with another seed",
        )
        return WhyPane(titles=titles, rows=tuple(rows), notes=notes)


def _surest(side: Side) -> Iterator[Common]:
    """Yield what is clear, the surest first, and the three surest where nothing is."""
    shown = [common for common in side.common if common.significant] or [*side.common[:3]]
    yield from shown[:SURE]
    yield from [word for word in side.words if word.significant][:SURE]


def _interval(scale: float, value: float, low: float, high: float) -> str:
    return f"{scale * value:+z.1f}" + (
        "" if isnan(low) else f" [{scale * low:+z.1f} {scale * high:+z.1f}]"
    )
