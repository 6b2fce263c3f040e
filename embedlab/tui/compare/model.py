"""A comparison as the Compare screen shows it: a frame of slices, the rows behind each, the largest
disagreements.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from types import MappingProxyType

import numpy as np
import polars as pl
import xxhash

from embedlab.analysis.comparison import ComparedSlice
from embedlab.analysis.filter_ranges import selecting_ranges
from embedlab.choices import Aggregate, By
from embedlab.comparison.comparison import Comparison, compare_outcomes
from embedlab.comparison.evidence import slices_of
from embedlab.comparison.stored_comparisons import COMPARISONS, comparison_key
from embedlab.core.names import DEFAULT_TASK
from embedlab.data.sts import STS_AVERAGES
from embedlab.outcomes.selection import ItemSelection
from embedlab.scoring.provenance import COMMON, overlap_sign
from embedlab.store.entries import Store
from embedlab.tui.compare.training_marks import SharedText
from embedlab.tui.model_titles import short_names
from embedlab.tui.pair_scores import pair_outcomes
from embedlab.tui.pair_table.data import PairData, compared_models
from embedlab.tui.pair_table.view import (
    PairSelection,
    PairView,
    RowNumbers,
    ShownSlice,
    dataset_term,
)
from embedlab.tui.state import CompareState
from embedlab.tui.widgets.frame_lines import SHORTEST_BAR, FrameColumn

BARE_WIDTH, INTERVAL_WIDTH = 9, 22
NOTHING_SHARED: SharedText = MappingProxyType({})
PREVIEW_EVERY_S = 0.5
NARROWEST_TITLE, WIDEST_TITLE = 18, 52
_SHARED_LIMIT = 8  # cuts and selections whose shared text is remembered
OTHER_CELLS = 12  # of a row: mark, pairs, gaps and scrollbar


@dataclass(frozen=True, kw_only=True)
class ComparisonRequest:
    """The options of a comparison; equal requests on the same data have equal results."""

    by: By
    aggregate: Aggregate
    reference: str | None
    margin: float | None = None  # of equivalence, in points: 100 times the correlation
    common: bool = False  # on the pairs that all models score
    selected: str = ""  # what identifies the pairs that are selected; empty for all


@dataclass(frozen=True, kw_only=True, eq=False)
class SlicedComparison:
    """A comparison and the rows of the pair table behind each of its slices."""

    comparison: Comparison
    rows: Mapping[str, RowNumbers]


def identity_of(view: PairView) -> str:
    """What identifies the selected pairs of VIEW, and whether results took part in selecting them;
    empty for all pairs.
    """
    if view.is_whole:
        return ""
    return (
        f"{xxhash.xxh3_128_hexdigest(np.packbits(view.holds).tobytes())[:16]} {view.is_by_results}"
    )


def compare_slices(
    data: PairData,
    request: ComparisonRequest,
    *,
    selection: ItemSelection | None = None,
    cache: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    preview: Callable[[SlicedComparison], None] | None = None,
) -> SlicedComparison:
    """Compare the models of DATA that have scores on a SELECTION of its rows, or read the same
    comparison from the folder CACHE.

    PREVIEW takes the scores first, then now and then those of which intervals are known, from the
    top of the table.
    """
    models = compared_models(data)
    members = [member for model in models for member in model.members]
    # Datasets without scores of any shown model, often STS-B's training pairs, would be rows of
    # dots.
    table = data.table.with_row_index("row")
    if data.items is not None:
        outcomes = data.items
    else:
        table = table.filter(pl.any_horizontal(pl.col(members).is_not_null()).any().over("dataset"))
        outcomes = pair_outcomes(
            table, members, task=DEFAULT_TASK, averages=STS_AVERAGES, cache=cache
        )
    reference = request.reference if request.reference in {model.name for model in models} else None
    places = table["row"].to_numpy().astype(np.intp)
    picked = None if selection is None else replace(selection, holds=selection.holds[places])
    parts = slices_of(outcomes, members, by=request.by, common=request.common, selection=picked)
    rows = {part.key: places[part.rows] for part in parts}
    margin = request.margin / 100 if request.margin is not None else None
    options = (
        request.by,
        request.aggregate,
        reference,
        request.common,
        *(() if margin is None else (margin,)),
    )
    options += (request.selected,) if request.selected else ()
    if data.items is not None:  # whose columns in the table say who is right alone
        options += (
            data.task,
            xxhash.xxh3_128_hexdigest(data.items.predictions.select(members).to_numpy().tobytes()),
        )
    key = comparison_key(table, models, options) if cache is not None else ""
    if cache is not None and (known := Store(cache).get(COMPARISONS, key)) is not None:
        return _with_rows(known, rows)
    show = (
        _now_and_then(lambda comparison: preview(_with_rows(comparison, rows)))
        if preview is not None
        else None
    )
    comparison = compare_outcomes(
        outcomes,
        models,
        by=request.by,
        aggregate=request.aggregate,
        reference=reference,
        margin=margin,
        common=request.common,
        selection=picked,
        progress=progress,
        preview=show,
    )
    if cache is not None:
        Store(cache).put(COMPARISONS, key, comparison)
    return _with_rows(comparison, rows)


def _with_rows(comparison: Comparison, rows: Mapping[str, RowNumbers]) -> SlicedComparison:
    rows = {
        **rows,
        **{
            compared.key: rows[compared.slice_key]
            for compared in comparison.slices
            if not compared.average_of
        },
    }  # of several measures
    averages = {
        compared.key: np.concatenate([rows[key] for key in compared.average_of])
        for compared in comparison.slices
        if compared.average_of
    }
    return SlicedComparison(comparison=comparison, rows={**rows, **averages})


def _now_and_then(show: Callable[[Comparison], None]) -> Callable[[Comparison], None]:
    """Return SHOW without the calls that follow another too soon to be seen."""
    last = -PREVIEW_EVERY_S

    def show_rarely(comparison: Comparison) -> None:
        nonlocal last
        if monotonic() - last >= PREVIEW_EVERY_S:
            last = monotonic()
            show(comparison)

    return show_rarely


def slice_frame(
    comparison: Comparison,
    *,
    with_intervals: bool,
    shared: SharedText = NOTHING_SHARED,
    room: int = 0,
) -> pl.DataFrame:
    """One row a slice: key, title, pairs, and per model "text:MODEL" (displayed) and "value:MODEL"
    (sorted by).

    Scores of slices whose text is SHARED with training text are marked, as on the command line.
    Titles fit into the ROOM of the table.
    """
    widest = _title_width(comparison, with_intervals=with_intervals, room=room)
    is_marked, hangs = (
        any(overlap for overlaps in shared.values() for overlap in overlaps.values()),
        _hangs(comparison),
    )
    columns: dict[str, list[object]] = {
        "key": [compared.key for compared in comparison.slices],
        "title": [_short_title(compared.title, widest) for compared in comparison.slices],
        "pairs": [compared.pairs for compared in comparison.slices],
    }
    for name in comparison.models:
        columns[f"text:{name}"] = [
            _cell(
                compared,
                name,
                _mark(shared, compared, name) if is_marked else "",
                with_interval=with_intervals,
            )
            + _verdict(compared, name, hangs)
            for compared in comparison.slices
        ]
        columns[f"value:{name}"] = [compared.scores[name].value for compared in comparison.slices]
    return pl.DataFrame(columns, strict=False)


def slice_order(frame: pl.DataFrame, by: str | None, *, is_descending: bool) -> RowNumbers:
    """The rows of a slice frame sorted by a column; a model's column sorts by its numbers, rows
    without one last.
    """
    key = by.replace("text:", "value:", 1) if by is not None else None
    if key not in frame.columns:
        return np.arange(frame.height)
    values = frame[key].fill_nan(None) if frame[key].dtype.is_float() else frame[key]
    return values.arg_sort(descending=is_descending, nulls_last=True).to_numpy().astype(np.intp)


def slice_columns(
    comparison: Comparison, *, with_intervals: bool, room: int = 0
) -> list[FrameColumn]:
    """The columns of a slice frame in ROOM cells; the reference model's title is in brackets."""
    least = _score_width(comparison, with_intervals=with_intervals)
    widest = _title_width(comparison, with_intervals=with_intervals, room=room)
    share = (room - widest - OTHER_CELLS) // max(len(comparison.models), 1)
    width = max(least, min(share - 1, WIDEST_TITLE))
    # Of all models or of none, for they are compared; intervals come before them.
    has_bars = with_intervals and share - 1 >= least + SHORTEST_BAR + 1
    titles = short_names(
        {name: width - 2 if name == comparison.reference else width for name in comparison.models}
    )
    return [
        FrameColumn(key="title", title="slice", width=widest),
        FrameColumn(key="pairs", title="pairs", width=6, digits=0),
        *(
            FrameColumn(
                key=f"text:{name}",
                bar=f"value:{name}" if has_bars else None,
                title=title,
                width=least,
                align_right=True,
                grows=True,
            )
            for name, title in (
                (name, f"[{title}]" if name == comparison.reference else title)
                for name, title in titles.items()
            )
        ),
    ]


def _score_width(comparison: Comparison, *, with_intervals: bool) -> int:
    """The cells of a model's column, in which groups of more than two letters are whole."""
    letters = max(
        (
            len(compared.scores[name].letters)
            for compared in comparison.slices
            for name in compared.scores
        ),
        default=0,
    )
    return (
        (INTERVAL_WIDTH if with_intervals else BARE_WIDTH)
        + max(0, letters - 2)
        + _hangs(comparison)
    )


def _hangs(comparison: Comparison) -> bool:
    """Return whether some difference hangs on one topic, which has a sign."""
    return any(
        difference.topic_sign
        for compared in comparison.slices
        for difference in compared.differences.values()
    )


def _title_width(comparison: Comparison, *, with_intervals: bool, room: int) -> int:
    """The cells of the slices' titles: what they need, as far as the scores of all models remain
    visible.
    """
    longest = max((len(compared.title) for compared in comparison.slices), default=0)
    scores = len(comparison.models) * (_score_width(comparison, with_intervals=with_intervals) + 1)
    most = max(NARROWEST_TITLE, room - OTHER_CELLS - scores) if room else WIDEST_TITLE
    return min(max(longest, NARROWEST_TITLE), WIDEST_TITLE, most)


def _short_title(title: str, width: int) -> str:
    """TITLE in WIDTH cells: the end names the source or the fifth, and the details repeat the
    whole.
    """
    bare = title if len(title) <= width else title.partition(" (Dice ")[0]
    return (
        bare
        if len(bare) <= width
        else f"{bare[: width - 1 - width // 2]}…{bare[len(bare) - width // 2 :]}"
    )


def _mark(shared: SharedText, compared: ComparedSlice, name: str) -> str:
    """†, ‡ or ', or a blank that holds their place."""
    return overlap_sign(shared.get(compared.key, {}).get(name)) or " "


def _cell(compared: ComparedSlice, name: str, mark: str, *, with_interval: bool) -> str:
    score = compared.scores[name]
    if score.value != score.value:
        return "·"
    interval = (
        f" [{100 * score.low:z.1f} {100 * score.high:z.1f}]"
        if with_interval and score.low == score.low
        else ""
    )
    return f"{100 * score.value:z.1f}{mark}{interval} {compared.scores[name].letters:<2}"


def _verdict(compared: ComparedSlice, name: str, hangs: bool) -> str:
    """▲ or ▼ where the model differs from the reference after correction, or a blank; where some
    HANGS on one topic, § or a blank.
    """
    difference, width = compared.differences.get(name), 2 if hangs else 1
    if compared.scores[name].value != compared.scores[name].value:
        return ""
    if difference is None:
        return " " * width
    sign = ("▲" if difference.delta > 0 else "▼") if difference.significant else " "
    return f"{sign}{difference.topic_sign}".ljust(width)


def opened_slice(
    view: PairView, comparison: Comparison, compared: ComparedSlice, rows: RowNumbers
) -> ShownSlice:
    """A slice of what VIEW selects as pairs to show, with the expression that picks them where one
    does.
    """
    expression = _expression(view, comparison.by, compared, rows)
    return ShownSlice(
        title=compared.title,
        rows=rows,
        expression=expression if _picks(view, expression, rows) else "",
    )


def _expression(view: PairView, by: str, compared: ComparedSlice, rows: RowNumbers) -> str:
    datasets = view.data.table["dataset"][rows].unique(maintain_order=True).to_list()
    terms = [dataset_term(datasets)]
    if (
        by == "source"
        and not compared.average_of
        and (source := view.data.table["source"][rows].unique()).len() == 1
        and source[0]
    ):
        terms.append(f"source:{source[0]}")
    if by == "dice" and len(rows):
        terms.append(str(selecting_ranges(view.data.table, rows, ["dice"])[0]))
    return " ".join(terms) if terms[0] else ""


def _picks(view: PairView, expression: str, rows: RowNumbers) -> bool:
    """Return whether EXPRESSION picks exactly ROWS of those that VIEW selects."""
    if not expression or " " in expression.partition("source:")[2]:
        return False
    alone = PairView(data=view.data)
    alone.select(PairSelection(expression=expression))
    return np.array_equal(np.flatnonzero(alone.holds & view.holds), np.sort(rows))


def disagreements(
    data: PairData, names: Sequence[str], rows: RowNumbers, limit: int
) -> Sequence[Mapping[str, object]]:
    """The pairs of ROWS with the largest rank gap between the models NAMES; for a single model, its
    largest rank errors.
    """
    size = pl.col("gap") if len(names) > 1 else pl.col(f"error({names[0]})").abs()
    pairs = (
        data.table[rows]
        .with_columns(pl.Series("row", rows))
        .drop_nulls(["gap"] if len(names) > 1 else [f"error({names[0]})"])
    )
    return (
        pairs.sort(size, descending=True, maintain_order=True)
        .head(limit)
        .with_columns(size.alias("size"))
        .to_dicts()
    )


def comparison_rows(result: SlicedComparison, data: PairData) -> Sequence[Mapping[str, object]]:
    """Every number of the comparison at full precision, one row per slice and model."""
    comparison = result.comparison
    return [
        {
            "slice": compared.key,
            "pairs": compared.pairs,
            "model": name,
            "spearman": score.value,
            "sd": score.sd,
            "low": score.low,
            "high": score.high,
            "tie_group": score.letters,
            "reach": compared.reach,
            **_difference(compared, name),
            "aggregate": comparison.aggregate,
            "reference": comparison.reference,
            "test": "dyadic",
            "design_effect": compared.design_effect,
            "marks": " ".join([*data.marks, *([COMMON] if comparison.common else [])]),
        }
        for compared in comparison.slices
        for name, score in compared.scores.items()
    ]


def _difference(compared: ComparedSlice, name: str) -> dict[str, float | None]:
    difference = compared.differences.get(name)
    keys = ("delta", "delta_low", "delta_high", "delta_without_topic", "p", "p_holm")
    without = difference.topic.without if difference and difference.topic else None
    values = (
        (
            difference.delta,
            difference.low,
            difference.high,
            without,
            difference.p,
            difference.p_holm,
        )
        if difference
        else (None,) * 6
    )
    return dict(zip(keys, values, strict=True))


class CompareModel:
    """What Compare shows: the data and their comparison, its order, and the pane below."""

    def __init__(self, panels: Sequence[str]) -> None:
        self.data: PairData | None = None
        self.result: SlicedComparison | None = None
        self.is_preview = False  # `result` lacks differences and letters
        self.order: tuple[str, bool] | None = None  # column, descending
        self.panel = panels[0]
        self._panels = tuple(panels)
        self._compared: PairData | None = None  # the data that were compared last
        self._shown: ComparisonRequest | None = None  # whose result is shown whole
        self._under_cursor: tuple[str, str] | None = None  # key and metric of the slice
        self._shared: dict[
            tuple[str, str], SharedText
        ] = {}  # what the slices share with training text, by cut and selection

    # the comparison

    def request(
        self, state: CompareState, reference: str | None, view: PairView | None
    ) -> ComparisonRequest:
        """The comparison that STATE wants of the data, on what VIEW selects."""
        has_second = self.data is None or self.data.items is None or self.data.has_second
        is_of_items = self.data is not None and self.data.items is not None
        by: By = "dataset" if is_of_items and (state.by == "source" or not has_second) else state.by
        return ComparisonRequest(
            by=by,
            aggregate="all" if by == "dice" else state.aggregate,
            reference=reference,
            margin=state.margin,
            common=state.common,
            selected=identity_of(view) if view is not None else "",
        )

    def begin(self, data: PairData, row: int | None) -> None:
        """Forget the comparison of other data, but for the slice that the cursor is on, that in
        ROW.
        """
        self._remember_slice(row)
        self._compared, self._shared, self.result = data, {}, None

    def is_current(self, request: ComparisonRequest) -> bool:
        """Whether what is shown is the whole result of REQUEST on the present data."""
        return self.data is self._compared and request == self._shown

    @property
    def is_of_other_data(self) -> bool:
        """Whether newer data are there than those that were compared last."""
        return self.data is not None and self.data is not self._compared

    def take(
        self, result: SlicedComparison, request: ComparisonRequest | None, row: int | None
    ) -> int | None:
        """Show RESULT: that of REQUEST, or without one a part of it that is known already.

        Return the row of the slice that was in ROW before, where the cursor is; None where it is
        gone.
        """
        self._remember_slice(row)
        self.result, self.is_preview = result, request is None
        if request is not None:
            self._shown = request
        keys = [(compared.key, compared.metric) for compared in result.comparison.slices]
        return keys.index(self._under_cursor) if self._under_cursor in keys else None

    def _remember_slice(self, row: int | None) -> None:
        if (compared := self.slice_in(row)) is not None:
            self._under_cursor = compared.key, compared.metric

    # what it shares with training text

    def shared(self, of: tuple[str, str]) -> SharedText:
        """What the slices OF a cut and selection share with training text, as far as it is
        known.
        """
        return self._shared.get(of, NOTHING_SHARED)

    def wants_shared(self, of: tuple[str, str]) -> bool:
        """Whether that was not looked up yet; from now on it is."""
        if self.data is None or of in self._shared or self.is_preview:
            return False
        self._shared = {of: {}} if len(self._shared) > _SHARED_LIMIT else {**self._shared, of: {}}
        return True

    def take_shared(self, data: PairData, of: tuple[str, str], shared: SharedText) -> bool:
        """Take what the slices of DATA share; return whether that is anything about the present
        data.
        """
        if data is not self.data:
            return False
        self._shared[of] = shared
        return any(overlap for by_model in shared.values() for overlap in by_model.values())

    # what a key changes

    def sort_by(self, key: str | None) -> None:
        """Sort best first, then worst first, then in the order of the datasets; without a key
        reverse the order.
        """
        before = self.order
        if key is None:
            self.order = (before[0], not before[1]) if before else None
        elif before is None or before[0] != key:
            self.order = (key, key != "title")
        else:
            self.order = (key, False) if before == (key, True) and key != "title" else None

    def next_panel(self, by: int) -> None:
        """Go to another pane."""
        self.panel = self._panels[(self._panels.index(self.panel) + by) % len(self._panels)]

    # what the cursor is on

    def slice_in(self, row: int | None) -> ComparedSlice | None:
        """The slice in ROW."""
        if self.result is None or row is None or row >= len(self.result.comparison.slices):
            return None
        return self.result.comparison.slices[row]

    def rows_of(self, compared: ComparedSlice) -> RowNumbers:
        """The rows of the pairs of a slice."""
        return (
            self.result.rows[compared.key]
            if self.result is not None
            else np.zeros(0, dtype=np.intp)
        )

    def plotted_model(self, under_cursor: str | None) -> str | None:
        """The model under the cursor, or the first that is not the reference."""
        if self.result is None:
            return None
        comparison = self.result.comparison
        if under_cursor in comparison.models:
            return under_cursor
        return next(
            (name for name in comparison.models if name != comparison.reference),
            comparison.reference,
        )

    def other_model(self, under_cursor: str | None) -> str | None:
        """The model under the cursor if it is not the reference, or the first that is not; None
        where one model is compared.
        """
        if self.result is None:
            return None
        others = [
            name
            for name in self.result.comparison.models
            if name != self.result.comparison.reference
        ]
        return under_cursor if under_cursor in others else next(iter(others), None)
