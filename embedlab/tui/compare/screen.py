"""The Compare screen: models on datasets, sources or Dice fifths, with intervals, tie groups and
the pairs of each slice.
"""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, get_args

import polars as pl
from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Static
from textual.worker import get_current_worker

from embedlab.analysis.comparison import ComparedSlice
from embedlab.analysis.pairing import Pairing
from embedlab.choices import Aggregate, By
from embedlab.comparison.comparison import Comparison
from embedlab.comparison.evidence import CHOSEN
from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.scoring.provenance import COMMON
from embedlab.store.files import write_atomic
from embedlab.tui.base_screen import DashboardScreen
from embedlab.tui.command import KeyScope
from embedlab.tui.commands import bindings
from embedlab.tui.compare.comparer import Comparer
from embedlab.tui.compare.difference_pane import DifferencePane
from embedlab.tui.compare.disagreement_list import DisagreementList
from embedlab.tui.compare.fifths_map import fifths_map
from embedlab.tui.compare.forest_plot import forest
from embedlab.tui.compare.model import (
    BARE_WIDTH,
    INTERVAL_WIDTH,
    NARROWEST_TITLE,
    OTHER_CELLS,
    CompareModel,
    ComparisonRequest,
    SlicedComparison,
    comparison_rows,
    disagreements,
    opened_slice,
    slice_columns,
    slice_frame,
    slice_order,
)
from embedlab.tui.compare.slice_detail import ModelFacts, SliceDetail
from embedlab.tui.compare.training_marks import SharedText, shared_text
from embedlab.tui.dialogs import DIALOG, Confirm, TextDialog
from embedlab.tui.face_to_face import named
from embedlab.tui.key_table import shown_key
from embedlab.tui.model_titles import short_name
from embedlab.tui.pair_table.data import PairData, compared_models
from embedlab.tui.pair_table.view import RowNumbers
from embedlab.tui.pairs.export import path_to_write, to_csv, to_markdown
from embedlab.tui.pairs.selection import open_box, open_slice
from embedlab.tui.plots.model import VIEWS
from embedlab.tui.plots.plotting import PlottedPairs
from embedlab.tui.terminal.delay import after
from embedlab.tui.widgets.frame_table import FrameTable
from embedlab.tui.widgets.pair_plot import PairPlot

CUTS: tuple[By, ...] = get_args(By)
CUT_TITLES = {"dataset": "datasets", "source": "sources", "dice": "Dice fifths"}
AGGREGATES: tuple[Aggregate, ...] = get_args(Aggregate)
AGGREGATE_TITLES = {
    "all": "all pairs at once",
    "mean": "mean over sources",
    "wmean": "mean over sources weighted by pairs",
}
DISAGREEMENTS = 20
_SOON_S = 0.05

PAIR_LIST = "pairs"  # the largest disagreements
FOREST, FIFTHS_MAP = "forest", "map"
PANELS = (
    "gold",
    "models",
    PAIR_LIST,
    FOREST,
    FIFTHS_MAP,
    *(name for name in VIEWS if name not in {"gold", "models"}),
)


class SliceTable(FrameTable, inherit_bindings=False):
    """The table of slices, without marks."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("table", without={"mark"})


class CompareScreen(DashboardScreen):
    """Compare models slice by slice, on the pairs that are selected."""

    SCOPE: ClassVar[KeyScope] = "compare"
    BINDINGS: ClassVar[list[BindingType]] = bindings("compare")
    IS_OF_SELECTION = True

    def __init__(self) -> None:
        super().__init__()
        self.model = CompareModel(PANELS)
        self.comparer = Comparer(self)

    def compose_body(self) -> ComposeResult:
        """Yield status, table, and the panes of which one or two are shown."""
        yield Static("", id="compare-status", classes="status marks", markup=False)
        yield SliceTable(id="compare-table")
        with Horizontal(id="compare-panes"):
            with Vertical(id="compare-words"):
                yield SliceDetail(id="slice-detail", classes="pane")
                yield DisagreementList(id="disagreements", classes="pane")
            yield PairPlot(id="scatter", classes="pane")
            yield DifferencePane(id="differences", classes="pane")
        yield Static("", id="no-models", classes="empty", markup=False)

    def on_mount(self) -> None:
        """Follow the selection from now on."""
        self.query_one("#no-models").display = False
        self.dashboard.selected.changed.subscribe(self, self._selection_changed)
        self.set_focus(self.query_one(FrameTable))
        self._show_panel()

    # the comparison

    @property
    def requested(self) -> ComparisonRequest:
        """The request of the present settings."""
        names = (
            [model.name for model in self.model.data.models] if self.model.data is not None else []
        )
        state, selected = self.dashboard.memory.state.compare, self.dashboard.selected
        return self.model.request(state, self.dashboard.reference(names), selected.view)

    def show_data(self, data: PairData) -> None:
        """Compare the models of new data, once this screen is shown."""
        self.model.data = data
        if self.is_current:
            self._compare_data(data)

    def _compare_data(self, data: PairData) -> None:
        self.model.begin(data, self.query_one(FrameTable).current_row)
        self.comparer.take(data)
        self._request()

    def _selection_changed(self, _: object) -> None:
        """Compare on what is selected now, once this screen is shown: a filter changes with every
        key.
        """
        if self.is_current:
            self._request()

    def on_screen_resume(self) -> None:
        """Compare what was loaded or selected on another screen."""
        data = self.model.data
        if data is not None and self.model.is_of_other_data:
            self._compare_data(data)
        elif data is not None and not self.model.is_current(self.requested):
            self._request()

    def _show_emptiness(self, data: PairData) -> bool:
        """Show why there is nothing to compare, and return whether there is not."""
        view, empty = self.dashboard.selected.view, self.query_one("#no-models", Static)
        why = data.why_empty
        if not why and not compared_models(data):
            what = (
                "no chosen model has scored these pairs"
                if data.models
                else "no model with scores is chosen"
            )
            choose, score = shown_key("models"), shown_key("add_model")
            why = (
                f"{what}\n\npress {choose} to choose among the scored ones,\nor go to Pairs "
                f"(1) and press {score} to score one"
            )
        elif not why and view is not None and not view.holds.any():
            why = (
                f"no pair is selected by {view.title}\n\n{shown_key('clear_selection')} "
                f"selects all of them"
            )
        empty.display = bool(why)
        empty.update(why)
        for selector in ("#compare-table", "#compare-panes"):
            self.query_one(selector).display = not why
        self.settle_focus(self.query_one(FrameTable))
        return bool(why)

    def _request(self) -> None:
        data, view = self.model.data, self.dashboard.selected.view
        if data is None or view is None or self._show_emptiness(data):
            return
        request = self.requested
        known = self.comparer.known(request)
        if known is not None:
            self._take(request, known)
            return
        self.comparer.compare(
            request,
            None if view.is_whole else view.picked(),
            partial(self._take, request),
            group="compare",
            progress=self._show_progress,
            preview=partial(self._take_preview, request),
        )

    def _take_preview(self, request: ComparisonRequest, sliced: SlicedComparison) -> None:
        """Show the scores and intervals that are known already."""
        if request == self.requested:
            self._show(
                sliced, self.model.take(sliced, None, self.query_one(FrameTable).current_row)
            )

    def _take(self, request: ComparisonRequest, sliced: SlicedComparison) -> None:
        if request == self.requested:
            self._show(
                sliced, self.model.take(sliced, request, self.query_one(FrameTable).current_row)
            )

    @work(thread=True, exclusive=True, group="marks", exit_on_error=False)
    def _find_shared(self, data: PairData, of: tuple[str, str], sliced: SlicedComparison) -> None:
        """Look up what the slices share with training text; nothing waits for it."""
        shared = shared_text(
            data, sliced.rows, sliced.comparison.models, self.dashboard.training_texts
        )
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._take_shared, data, of, shared)

    def _take_shared(self, data: PairData, of: tuple[str, str], shared: SharedText) -> None:
        if (
            self.model.take_shared(data, of, shared)
            and self.model.result is not None
            and of == self._slices
        ):
            self._show(self.model.result, self.query_one(FrameTable).current_row)

    @property
    def _slices(self) -> tuple[str, str]:
        """What decides which pairs each slice has."""
        return self.requested.by, self.requested.selected

    def _show(self, sliced: SlicedComparison, stay_on: int | None) -> None:
        of = self._slices
        if self.model.data is not None and self.model.wants_shared(of):
            self._find_shared(self.model.data, of, sliced)
        comparison = sliced.comparison
        table = self.query_one(FrameTable)
        with_intervals = self._has_room(len(comparison.models))
        frame = slice_frame(
            comparison,
            with_intervals=with_intervals,
            shared=self.model.shared(of),
            room=self.size.width,
        )
        columns = slice_columns(comparison, with_intervals=with_intervals, room=self.size.width)
        if not self.is_sortable(self.model.order[0] if self.model.order else None, columns):
            self.model.order = None
        sorted_by, is_descending = self.model.order or (None, False)
        rows = slice_order(frame, sorted_by, is_descending=is_descending)
        table.show(
            frame, rows, columns, sorted_by=sorted_by, is_descending=is_descending, stay_on=stay_on
        )
        table.take_height(self.size.height // 2)
        self._show_slice()  # its tests may differ where the table does not
        self._show_status()

    def _has_room(self, models: int) -> bool:
        """Whether intervals fit, which titles become short for and bars are left out for; where
        nothing fits, one scrolls anyway.
        """
        least = OTHER_CELLS + NARROWEST_TITLE + models * (INTERVAL_WIDTH + 1)
        return self.size.width >= least or models * BARE_WIDTH > self.size.width

    def on_resize(self) -> None:
        """Show intervals where there is room."""
        if self.model.result is not None:
            self._show(self.model.result, self.query_one(FrameTable).current_row)

    def _show_progress(self, done: int, total: int) -> None:
        self.query_one("#compare-status", Static).update(f"comparing {done} of {total}")

    def _show_status(self) -> None:
        request, sliced = self.requested, self.model.result
        if sliced is None:
            return
        reference = sliced.comparison.reference
        marks = self.model.data.marks if self.model.data else []
        absent = [
            model.name
            for model in (self.model.data.models if self.model.data else ())
            if model.name not in sliced.comparison.models
        ]
        marks += [COMMON] if request.common else []
        marks += [f"not scored by {', '.join(absent)}"] if absent else []
        view = self.dashboard.selected.view
        marks += [CHOSEN] if view is not None and view.is_by_results else []
        pairing = self.model.data.pairing if self.model.data else None
        models = (
            f"reference {reference}" if pairing is None else named(pairing)
        )  # A is the reference
        parts = [CUT_TITLES[request.by], AGGREGATE_TITLES[request.aggregate], models, *marks]
        parts += ["intervals follow"] if self.model.is_preview else []
        self.query_one("#compare-status", Static).update(" · ".join(parts))

    # the slice under the cursor

    @property
    def _slice(self) -> ComparedSlice | None:
        return self.model.slice_in(self.query_one(FrameTable).current_row)

    @property
    def _model(self) -> str | None:
        """The model under the cursor, or the first that is not the reference."""
        return self.model.plotted_model(self.model_under_cursor)

    @property
    def model_under_cursor(self) -> str | None:
        """The model of the column under the cursor."""
        column = self.query_one(FrameTable).current_column
        return (
            column.key.removeprefix("text:")
            if column is not None and column.key.startswith("text:")
            else None
        )

    def on_frame_table_row_reached(self) -> None:
        """Show the details of the slice."""
        self._show_slice()

    def on_frame_table_column_reached(self) -> None:
        """Plot the model under the cursor."""
        self._show_plot()

    def _show_slice(self) -> None:
        compared, data = self._slice, self.model.data
        if self.model.result is None or data is None:
            return
        shared = (
            self.model.shared(self._slices).get(compared.key, {}) if compared is not None else {}
        )
        seeds = {model.name: model.seeds for model in data.models}
        comparison = self.model.result.comparison
        another = (
            {elsewhere.model: elsewhere for elsewhere in comparison.elsewhere}
            if compared is not None and compared.average_of
            else {}
        )
        facts = ModelFacts(
            reference=comparison.reference, shared=shared, seeds=seeds, elsewhere=another
        )
        self.query_one(SliceDetail).show(compared, facts)
        names = comparison.models
        disagreeing = (
            disagreements(data, names, self.model.rows_of(compared), DISAGREEMENTS)
            if compared is not None
            else []
        )
        self.query_one(DisagreementList).show(disagreeing, names)
        self._show_plot()

    def _show_plot(self) -> None:
        self.show_differences()
        compared, model, data = self._slice, self._model, self.model.data
        plot = self.query_one(PairPlot)
        if (
            compared is None
            or model is None
            or data is None
            or self.model.result is None
            or self.model.panel not in VIEWS
            or not data.is_plotted
        ):
            plot.show(None)
            return
        reference = self.model.result.comparison.reference
        pairs = PlottedPairs(
            data=data,
            rows=self.model.rows_of(compared),
            reference=reference if reference != model else None,
            model=model,
        )
        view = VIEWS[
            "gold"
            if VIEWS[self.model.panel].needs_two and pairs.reference is None
            else self.model.panel
        ]
        plot.show(view.draw(pairs), place=compared.title)

    # the differences over all slices

    def show_differences(self) -> None:
        """Draw the differences of the model under the cursor, or of the first that is not the
        reference.
        """
        pane, sliced = self.query_one(DifferencePane), self.model.result
        if sliced is None or self.model.panel not in {FOREST, FIFTHS_MAP}:
            return
        model = self.model.other_model(self.model_under_cursor)
        if model is None:
            pane.show(
                f"one model has no differences: press {shown_key('models')} to choose another"
            )
        elif self.model.panel == FOREST and self.model.is_preview:
            pane.show("comparing the slices: their differences follow")
        elif self.model.panel == FOREST:
            pane.show(forest(sliced.comparison, model))
        else:
            self._show_fifths(pane, model)

    @property
    def fifths_request(self) -> ComparisonRequest:
        """The request of the map: the present one by fifths of Dice."""
        return replace(self.requested, by="dice", aggregate="all")

    def _show_fifths(self, pane: DifferencePane, model: str) -> None:
        request, view = self.fifths_request, self.dashboard.selected.view
        known = self.comparer.known(request)
        if known is not None:
            pane.show(fifths_map(known.comparison, model))
        elif view is not None and not self.is_working(f"fifths {request.selected}"):
            pane.show("comparing the fifths of each dataset")
            picked = None if view.is_whole else view.picked()
            self.comparer.compare(
                request, picked, self._take_fifths, group=f"fifths {request.selected}"
            )

    def _take_fifths(self, _: SlicedComparison) -> None:
        after(_SOON_S, self, self.show_differences)  # once the worker has ended

    @work(group=DIALOG)
    async def action_margin(self) -> None:
        """Choose the margin of equivalence, or remove it."""
        present = self.requested.margin
        dialog = TextDialog(
            "Differences smaller than this many points are equivalent",
            value="" if present is None else f"{present:g}",
            hint="for example 0.5; 0 for no test of equivalence.",
            check=_margin,
        )
        text = await self.app.push_screen_wait(dialog)
        if text is not None:
            self._remember(margin=_margin(text) or None)

    # from a number to its pairs

    def _open(
        self,
        compared: ComparedSlice,
        rows: RowNumbers,
        comparison: Comparison,
        model: str | None,
        *,
        row: int | None = None,
    ) -> None:
        """Show the pairs of a slice; with MODEL and the reference alone, where it is another
        model.
        """
        view, reference = self.dashboard.selected.view, self.requested.reference
        if view is None or self.model.data is None:
            return
        is_faced = (
            self.model.data.pairing is None
            and reference is not None
            and model not in {None, reference}
        )
        pairing = Pairing(reference=str(reference), other=str(model)) if is_faced else None
        title = f"Compare: {compared.title}" + (
            f" × {short_name(str(model), 16)}" if model is not None else ""
        )
        open_slice(
            self.dashboard,
            opened_slice(view, comparison, compared, rows),
            title=title,
            pairing=pairing,
            row=row,
        )

    def on_pair_plot_opened(self, event: PairPlot.Opened) -> None:
        """Show the pairs of a selection in the plot."""
        compared, view = self._slice, self.dashboard.selected.view
        if compared is not None and view is not None and self.model.result is not None:
            within = opened_slice(
                view, self.model.result.comparison, compared, self.model.rows_of(compared)
            )
            open_box(
                self.dashboard,
                event.rows,
                event.fields,
                title=f"Compare: plot of {compared.title}",
                within=within,
            )

    def on_difference_pane_opened(self, event: DifferencePane.Opened) -> None:
        """Show the pairs behind a difference, with both of its models."""
        sliced = self.comparer.known(self.fifths_request) if event.by else self.model.result
        compared = (
            next(
                (
                    compared_slice
                    for compared_slice in sliced.comparison.slices
                    if compared_slice.key == event.row.key
                ),
                None,
            )
            if sliced is not None
            else None
        )
        if sliced is not None and compared is not None:
            self._open(compared, sliced.rows[compared.key], sliced.comparison, event.model)

    def on_disagreement_list_opened(self, event: DisagreementList.Opened) -> None:
        """Show a disagreement among the pairs of its slice."""
        if (compared := self._slice) is not None and self.model.result is not None:
            self._open(
                compared,
                self.model.rows_of(compared),
                self.model.result.comparison,
                None,
                row=event.row,
            )

    def on_frame_table_row_opened(self) -> None:
        """Show the pairs of the slice; from a model's cell, with this model and the reference
        alone.
        """
        if (compared := self._slice) is not None and self.model.result is not None:
            self._open(
                compared,
                self.model.rows_of(compared),
                self.model.result.comparison,
                self.model_under_cursor,
            )

    def _show_panel(self) -> None:
        panes = self.query_one("#compare-panes")
        layouts = {
            "-pairs": self.model.panel == PAIR_LIST,
            "-differences": self.model.panel in {FOREST, FIFTHS_MAP},
        }
        if any(
            panes.has_class(name) != is_on for name, is_on in layouts.items()
        ):  # Textual styles all that is below again
            for name, is_on in layouts.items():
                panes.set_class(is_on, name, update=False)
            panes.update_node_styles(animate=False)
        if self.focused is not None and not self.focused.display:
            self.set_focus(self.query_one(FrameTable))

    # keys

    def on_frame_table_sort_requested(self, event: FrameTable.SortRequested) -> None:
        """Sort best first, then worst first, then in the order of the datasets."""
        if self.model.result is None:
            return
        self.model.sort_by(event.key)
        self._show(self.model.result, self.query_one(FrameTable).current_row)

    def action_back(self) -> None:
        """Restore the size of a pane, or return to where the comparison was opened."""
        if self.maximized is not None:
            self.minimize()
        elif self.dashboard.selected.is_as_opened(self.SCOPE):
            self.dashboard.selected.back()

    def action_cut(self) -> None:
        """Cut by datasets, then sources, then Dice fifths."""
        request = self.requested
        self._remember(by=CUTS[(CUTS.index(request.by) + 1) % len(CUTS)])

    def action_aggregate(self) -> None:
        """Aggregate over sources in the next way."""
        request = self.requested
        if request.by == "dice":
            self.dashboard.report(
                UsageError(
                    "Dice fifths are not aggregated over sources",
                    hint=f"press {shown_key('group')} for datasets",
                ),
                severity="warning",
            )
            return
        self._remember(
            aggregate=AGGREGATES[(AGGREGATES.index(request.aggregate) + 1) % len(AGGREGATES)]
        )

    def action_common(self) -> None:
        """Compare on the pairs that all models score, or each model on whole datasets."""
        self._remember(common=not self.requested.common)

    def action_pin(self) -> None:
        """Make the model under the cursor the reference."""
        if (model := self._model) is not None:
            self.dashboard.set_reference(model)
            self._request()

    def _remember(self, **changed: Any) -> None:
        state = self.dashboard.memory.state
        self.dashboard.remember(replace(state, compare=replace(state.compare, **changed)))
        self._request()

    def action_plot(self, by: int = 1) -> None:
        """Show the next plot of the slice, or its largest disagreements."""
        self.model.next_panel(by)
        self._show_panel()
        self.call_after_refresh(self._show_plot)

    @work(group=DIALOG)
    async def action_columns(self) -> None:
        """Choose the models."""
        if (chosen := await self.dashboard.models_dialog("Models to compare")) is not None:
            await self.dashboard.take_models([value.removeprefix("model:") for value in chosen])

    @work(group=DIALOG)
    async def action_export(self) -> None:
        """Write every number of the comparison."""
        if self.model.result is None or self.model.data is None:
            return
        if self.model.is_preview:
            self.dashboard.report(
                UsageError(
                    "the intervals are being computed",
                    hint=f"press {shown_key('export')} again in a moment",
                ),
                severity="warning",
            )
            return
        rows = comparison_rows(self.model.result, self.model.data)
        text = await self.app.push_screen_wait(
            TextDialog(
                "File for the comparison",
                value="comparison.csv",
                hint=".csv .json .md",
                check=_path,
            )
        )
        if text is None:
            return
        path = _path(text)
        if path.exists() and not await self.app.push_screen_wait(
            Confirm(f"{path} exists. Replace it?")
        ):
            return
        frame = pl.DataFrame(rows)
        try:
            match path.suffix.lower():
                case ".json":
                    write_atomic(path, json.dumps(frame.fill_nan(None).to_dicts(), indent=1) + "\n")
                case ".md":
                    write_atomic(path, to_markdown(frame))
                case _:
                    write_atomic(path, to_csv(frame))
        except EmbedlabError as error:
            self.dashboard.report(error)
        else:
            self.notify(f"wrote {path}", markup=False)


def _margin(text: str) -> float:
    try:
        margin = float(text)
    except ValueError:
        margin = -1.0
    if not 0 <= margin < 100:
        raise UsageError(
            f"{text!r} is not a margin",
            hint="give points above 0 and below 100, for example 0.5, or 0 for none",
        )
    return margin


def _path(text: str) -> Path:
    return path_to_write(text, {".csv", ".json", ".md"}, hint="end it in .csv, .json or .md")
