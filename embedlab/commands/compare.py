"""`embedlab compare`: models side by side, and whether they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, isfinite, isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from embedlab.choices import Aggregate
from embedlab.commands.command import command, refuse
from embedlab.commands.options import HTML, Flag, ModelsOnItems, SignatureOptions
from embedlab.core.errors import ExitCode, UsageError
from embedlab.core.session import Session
from embedlab.reports.report import Report

if TYPE_CHECKING:
    from embedlab.experiments.paper_file import PublishedRow
    from embedlab.reports.scores import StatedModel
    from embedlab.scoring.selection import SelectedTask


@dataclass(frozen=True, kw_only=True)
class CompareOptions(SignatureOptions, ModelsOnItems):
    """What is compared, and how."""

    aggregate: Annotated[
        Aggregate,
        Flag(
            is_expert=True,
            help="How a dataset's sources become one number.",
        ),
    ] = "all"
    equivalent: Annotated[
        float | None,
        Flag(
            is_expert=True,
            metavar="MARGIN",
            help="Also test whether models are equal within MARGIN points; = marks those.",
        ),
    ] = None
    letters: Annotated[
        bool,
        Flag(
            is_expert=True,
            help="Also test every two models; those that share a letter are not distinguished.",
        ),
    ] = False
    another_dataset: Annotated[
        bool,
        Flag(
            is_expert=True,
            help="Also say which differences to expect on another dataset of this kind.",
        ),
    ] = False
    published: Annotated[
        bool,
        Flag(
            is_expert=True,
            help="Also show the published scores of models with these names.",
        ),
    ] = False
    cost: Annotated[
        bool,
        Flag(
            is_expert=True,
            help="Also measure each model's time, memory and bytes on this machine, and what it "
            "loses with fewer dimensions or bits.",
        ),
    ] = False
    fail_if_worse: Annotated[
        float | None,
        Flag(
            is_expert=True,
            metavar="MARGIN",
            help="CANDIDATE BASE: exit with 0 if CANDIDATE is shown to be less than MARGIN points "
            "worse, 4 if it is shown to be worse by more, else 5.",
            python="",
        ),
    ] = None
    require_better: Annotated[
        bool,
        Flag(
            is_expert=True,
            help="CANDIDATE BASE: exit with 0 if CANDIDATE is shown to be better, 4 if worse, "
            "else 5.",
            python="",
        ),
    ] = False
    html: Annotated[Path | None, HTML] = None

    @property
    def margin(self) -> float | None:
        """The margin of the gate in points; None: there is no gate."""
        return 0.0 if self.require_better else self.fail_if_worse


@command("data runs machine output latex", draws="compare")
def compare(options: CompareOptions, session: Session) -> Report:
    """Compare MODELs with the first one: scores, differences and their 95% intervals over items and
    seeds.

    A FILE among them holds your own rows to compare on; scores:FILE holds the scores of a model.
    Missing scores are computed first.

    How to read it: * marks a difference from the first model that is not zero at 5%, after Holm's
    correction over the table; without a * the models are not distinguished. Items with equal or
    nearly equal sentences form a topic and count as dependent. The lines below the table explain
    the marks in it: § a difference that one topic decides, † a score on items of the model's
    training data, ‡ with the share of sentences that were in it.

    Examples:
        $ embedlab compare dice snli-ce snli-supcl --data DIR
        $ embedlab compare sbert defsent average:sbert,defsent --by source --format markdown
        $ embedlab compare sbert defsent --suite sts --suite transfer
        $ embedlab compare base mine faq.csv --by dice
        $ embedlab compare CANDIDATE BASE --task faq.csv --fail-if-worse 0.5
        $ embedlab compare sbert defsent --suite all --html sbert-defsent.html
        $ embedlab compare sbert defsent --rows models --latex --figure scores.pdf --figure
          'gold.pdf?kind=calibration'

    """
    from embedlab.commands.own_rows import take_choice
    from embedlab.comparison.comparison import Slicing
    from embedlab.evaluation import compare_gathered, gather
    from embedlab.outcomes.frame import DATASET
    from embedlab.reports.frames import COMPARED
    from embedlab.reports.scores import comparison_table

    options, selected_tasks = take_choice(options, session)
    names = options.models
    _refuse_gate(options, names)
    _refuse_options(options, selected_tasks)
    if options.margin is not None:  # the table has CANDIDATE − BASE, as the gate does
        names = names[::-1]
    scored_names, stated_models = _split_off_figures(names, selected_tasks, session)
    slicing = Slicing(
        by=options.by,
        where=options.where,
        has_rest=bool(options.where) and options.by == DATASET,
        aggregate=options.aggregate,
        common=options.common,
        margin=None if options.equivalent is None else options.equivalent / 100,
        has_letters=options.letters,
        has_another=options.another_dataset,
    )
    gathered = gather(
        scored_names, selected_tasks, session, slicing=slicing, setting=options.setting
    )
    comparison = compare_gathered(gathered, slicing, session)
    printed = _published_rows(scored_names, session) if options.published else ()
    table = comparison_table(comparison, printed, stated_models, rows=options.rows)
    tables, costs = [table], None
    if options.cost:
        from embedlab.commands.costs import costs_of
        from embedlab.reports.cost_table import cost_table

        costs = costs_of(scored_names, options.setting, selected_tasks, slicing, gathered, session)
        tables.append(cost_table(costs))
    report = Report.of(
        *tables,
        schema=COMPARED,
        is_whole=comparison.is_whole,
        command="compare",
        figure_subject={
            "compared": comparison,
            "frame": table.frame,
            "pairs": gathered.scored,
            "costs": costs,
        },
        by_model=1,
        behind={"compared": comparison, "gathered": gathered, "printed": printed, "costs": costs},
    )
    if len(names) == 1:
        session.note(
            f"one model: nothing to compare it with; `embedlab evaluate {names[0]}` "
            f"shows all its numbers"
        )
    if options.html is not None:
        from embedlab.commands.pages import write_comparison_page

        write_comparison_page(options.html, report, session)
    if options.margin is None:
        return report

    return with_gate(report, options.margin)


def _split_off_figures(
    names: Sequence[str], selected_tasks: Sequence[SelectedTask], session: Session
) -> tuple[Sequence[str], Sequence[StatedModel]]:
    """Return the models called NAMES that are measured, and those of which only figures of whole
    datasets are known.
    """
    from embedlab.evaluation import split_off_figures

    if not any(task.definition.aggregates for task in selected_tasks):
        return names, ()
    scored_names, stated_models = split_off_figures(names, session)
    if not scored_names:
        raise UsageError(
            "these models have only scores of whole datasets",
            hint="name one that scores pairs; `embedlab evaluate` shows them",
        )
    return scored_names, stated_models


def _published_rows(names: Sequence[str], session: Session) -> tuple[PublishedRow, ...]:
    """Return what papers print for models of these NAMES; that they print nothing is noted."""
    from embedlab.experiments.paper_file import published_row

    rows = {name: published_row(name) for name in names}
    if unpublished := [name for name, row in rows.items() if row is None]:
        session.note(f"no published numbers for {', '.join(unpublished)}")
    return tuple(row for row in rows.values() if row is not None)


def _refuse_options(options: CompareOptions, selected_tasks: Sequence[SelectedTask]) -> None:
    """Refuse options that contradict each other, what no selected task has, and what is known of
    pairs alone.
    """
    from embedlab.commands.own_rows import refuse_grouping
    from embedlab.evaluation import refuse_twice
    from embedlab.outcomes.frame import DATASET

    if options.html is not None:
        from embedlab.reports.pages import check_page_path

        check_page_path(options.html)
    refuse_twice(options.models)
    has_pairs = any(task.definition.aggregates for task in selected_tasks)
    pair_options = {
        f"aggregate {options.aggregate!r}": options.aggregate != "all",
        "published": options.published,
    }
    margin = options.equivalent
    refuse(
        (
            margin is not None and not 0 < margin < 100,
            f"the margin of equivalence is {margin or 0:g} points",
            "give points above 0 and below 100, for example 0.5",
        ),
        (
            margin is not None and len(options.models) == 1,
            "a margin of equivalence needs two models",
            "name another model",
        ),
        (
            options.by != DATASET and options.aggregate != "all",
            f"option aggregate {options.aggregate!r} is for whole datasets: a {options.by} is scored "
            "at once",
            "remove it, or group by dataset",
        ),
        (
            options.cost and bool(options.by != DATASET or options.where or options.common),
            "option cost is for whole datasets",
            "remove --by, --where and --common, or --cost",
        ),
        (
            not options.cost and any("kind=costs" in text for text in options.figure),
            "the figure 'costs' shows what --cost measures",
            "add --cost",
        ),
        *(
            (is_chosen and not has_pairs, f"option {name} is for the task sts alone", SELECT_STS)
            for name, is_chosen in pair_options.items()
        ),
    )
    refuse_grouping(options, selected_tasks)


SELECT_STS = "remove it, or select the task sts"


def _refuse_gate(options: CompareOptions, models: Sequence[str]) -> None:
    """Refuse a gate that cannot be."""
    if (margin := options.margin) is not None:
        refuse(
            (
                options.require_better and options.fail_if_worse is not None,
                "--fail-if-worse and --require-better are two gates",
                "give one of them",
            ),
            (
                not 0 <= margin < 100,
                f"the margin is {margin:g} points",
                "give 0 to 100, for example 0.5",
            ),
            (
                len(models) != 2,
                f"a gate is for two models, and {len(models)} are named",
                "embedlab compare CANDIDATE BASE --fail-if-worse MARGIN",
            ),
        )


# what a gate says, the lightest first
_ENDS = {
    ExitCode.OK: "passes",
    ExitCode.UNKNOWN: "undecided",
    ExitCode.DIFFERENT: "fails",
}


@dataclass(frozen=True, kw_only=True)
class GateRow:
    """One row of a comparison, in the units of its table: CANDIDATE − BASE."""

    row: str
    difference: float
    low: float  # of the 95% interval
    high: float
    items: int
    margin: float
    is_unread: bool = (
        False  # whether CANDIDATE has no vector of some texts: their items are left out
    )

    @property
    def exit_code(self) -> ExitCode:
        """0 where the whole interval is above −margin and nothing is left out, 4 where it is below,
        5 otherwise.
        """
        if self.low > -self.margin:
            return ExitCode.UNKNOWN if self.is_unread else ExitCode.OK
        return ExitCode.DIFFERENT if self.high < -self.margin else ExitCode.UNKNOWN

    @property
    def items_needed(self) -> float:
        """About how many items would decide if the difference stayed the same, rounded up; nan if
        no number would.
        """
        gap = self.difference + self.margin
        half_width = self.difference - self.low if gap > 0 else self.high - self.difference
        return nan if not gap or isnan(half_width) else ceil(self.items * (half_width / gap) ** 2)

    @property
    def text(self) -> str:
        """The row in words."""
        difference = "not known"
        if isfinite(self.difference):
            interval = f" [{self.low:+.2f}, {self.high:+.2f}]"
            if isnan(self.low):
                interval = ", without an interval,"
            difference = f"{self.difference:+.2f}{interval}"
        is_open = self.exit_code == ExitCode.UNKNOWN and not self.low > -self.margin
        needed = ""
        if is_open and isfinite(self.items_needed):
            needed = f" (about {self.items_needed:,} items would decide, not {self.items:,})"
        return f"{difference} on {self.row}{needed}"

    @property
    def record(self) -> dict[str, Any]:
        """The row in JSON, where what is no number is None."""
        values = {"result": _ENDS[self.exit_code], **vars(self), "items_needed": self.items_needed}
        return {
            key: value if isinstance(value, str) or isfinite(value) else None
            for key, value in values.items()
        }


def with_gate(report: Report, margin: float) -> Report:
    """Return REPORT with the gate of MARGIN points in its JSON, the line for logs, and the worst
    exit code of its rows: the averages if there are any.
    """
    from embedlab.core.note import Note, kind_of
    from embedlab.reports.tables import attributes
    from embedlab.tasks.task import scale_of

    base, candidate = (model.name for model in report.compared.models)
    is_unread = any(
        kind_of(note) == "unread" and isinstance(note, Note) and candidate in note.models
        for note in report.gathered.notes
    )
    slices = report.compared.slices
    rows = []
    for compared in [average for average in slices if average.averaged_keys] or slices:
        scale = scale_of(compared.task, compared.metric)
        values = attributes(compared.differences[candidate], "delta low high", scale)
        row = GateRow(
            row=compared.title,
            difference=values["delta"],
            low=values["low"],
            high=values["high"],
            items=compared.items,
            margin=margin,
            is_unread=is_unread,
        )
        rows.append(row)
    code = max((row.exit_code for row in rows), key=[*_ENDS].index, default=ExitCode.UNKNOWN)
    decisive = [row.text for row in rows if row.exit_code == code]
    line = (
        f"gate {_ENDS[code]}, margin {margin:g}: {candidate} minus {base} is "
        f"{'; '.join(decisive) or 'not known'}"
    )
    if rows and is_unread:
        line = f"{line}, without items that {candidate} has no vectors of"
    table, *other_tables = report.tables
    records = {**table.records, "gate": [row.record for row in rows]}
    gated_table = replace(table, records=records)
    return replace(report, tables=(gated_table, *other_tables), last=line, exit_code=code)
