"""Pages: what each says of itself, and its sections: models by a property with plots of each task,
pair by pair, and tables of a paper next to ours.
"""

from __future__ import annotations

import platform
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from embedlab.core.session import Session
from embedlab.core.version import __version__
from embedlab.data.dataset import DatasetState
from embedlab.experiments.paper_file import PublishedRow
from embedlab.models.grammar import title_of
from embedlab.outcomes.frame import DATASET
from embedlab.reports.figures import (
    AXIS,
    difference_plots,
    gold_scatter,
    metric_of,
    reproduction_plots,
    score_plots,
    scores_of,
    tasks_of,
)
from embedlab.reports.pages import Section, write_page
from embedlab.reports.papers import Reproduction
from embedlab.reports.report import Report
from embedlab.reports.scores import comparison_table
from embedlab.reports.series import Plot, Series
from embedlab.reports.tables import Table
from embedlab.scoring.task_comparison import TaskComparison


def page_facts(states: Iterable[DatasetState]) -> dict[str, str]:
    """The facts block of a page that this process writes, about numbers made from data in
    STATES: each part with its rows, the start of its hash, and whether it is all there.
    """
    program = Path(sys.argv[0]).name
    return {
        "command": shlex.join(["embedlab" if program == "__main__.py" else program, *sys.argv[1:]]),
        "versions": f"embedlab {__version__}, Python {platform.python_version()}",
        "data": "; ".join(dict.fromkeys(map(_part, states))),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def _part(state: DatasetState) -> str:
    from embedlab.data.published import content_of

    digests = ", ".join(digest[:8] for digest in state.sha256.values())
    is_other = (
        state.origin == "folder" and not state.revision and content_of(state.sha256) == "unknown"
    )
    mark = (
        ", partial"
        if state.partial
        else ", generated"
        if state.origin == "tiny"
        else ", content unknown"
        if is_other
        else ""
    )
    return f"{state.name} {state.split}, {state.rows} rows{mark}" + (
        f", sha256 {digests}" if digests else ""
    )


ALSO = (
    "dataset",
    "source",
    "dice",
)  # properties by which pairs are shown besides the one of the table


def write_comparison_page(path: Path, report: Report, session: Session) -> None:
    """Write the page of a REPORT to PATH."""
    *others, last = (title_of(model.name) for model in report.compared.models)
    title = f"{', '.join(others)} and {last}" if others else last
    write_page(path, title, list(_sections(report)), facts=page_facts(report.compared.states))
    session.note(f"the page is {path}")


def _sections(report: Report) -> Iterator[Section]:
    compared = report.compared
    yield comparison_section(compared, report.printed)
    gathered = report.gathered
    if len(gathered.scored) < len(gathered.order):
        return
    for by in ALSO:
        if by != compared.slicing.by:
            slicing = replace(compared.slicing, by=by, aggregate="all", margin=None)
            yield comparison_section(
                gathered.compare(slicing), report.printed if by == DATASET else ()
            )
    for outcomes in gathered.scored:
        yield Section(title="Pair by pair", plots=(gold_scatter(outcomes, gathered.models),))


TITLES = {DATASET: "By dataset", "dice": "By word overlap"}

PageFacts = Callable[[Sequence[DatasetState]], Mapping[str, str]]
"""What a page states about itself, by the data that was read."""


def comparison_section(comparison: TaskComparison, printed: Sequence[PublishedRow] = ()) -> Section:
    """Return the models by one property: the table, then of each task their scores, the
    differences, and each next to its published row.

    A task with units of its own has only its rows in the table.
    """
    plots: list[Plot] = []
    for slices in tasks_of(comparison).values():
        of_task = replace(comparison, slices=slices)
        plots += [*score_plots(of_task), *difference_plots(of_task)]
        if any(compared.metric == "spearman" for compared in slices):
            plots += [_next_to_published(of_task, row) for row in printed]
    by = comparison.slicing.by
    table = comparison_table(comparison, printed)
    return Section(title=TITLES.get(by, f"By {by}"), table=table, plots=tuple(plots))


def _next_to_published(comparison: TaskComparison, row: PublishedRow) -> Plot:
    """Return a model's scores next to those that a paper prints for it."""
    slices = [each for each in comparison.slices if each.key in row.scores]
    names = [model.name for model in comparison.models]
    ours = scores_of(comparison, slices)[names.index(row.model)]
    values = [row.scores[compared.key] for compared in slices]
    title, axis = f"{title_of(row.model)}: published and ours", f"{metric_of(slices)}{AXIS}"
    series = [Series(f"{row.paper}, {row.table}", values), ours]
    return Plot("dots", title, series, axis, labels=[compared.key for compared in slices])


def write_reproduction_page(
    path: Path, reproductions: Sequence[Reproduction], facts: PageFacts
) -> None:
    """Write the page of all reproduced tables to PATH: each next to the published values, with
    plots and what deviates below it.
    """
    scored = [each.scored for each in reproductions if each.scored is not None]
    states = [state for gathered in scored for state in gathered.states]
    sections = [section for each in reproductions for section in _reproduced(each)]
    write_page(path, f"{reproductions[0].table.paper}, reproduced", sections, facts=facts(states))


def write_claims_page(path: Path, paper: str, claims: Table, facts: Mapping[str, str]) -> None:
    """Write the page of a paper's claims to PATH."""
    write_page(path, f"{paper}, its claims", [_titled(claims)], facts=facts)


def _titled(table: Table, *plots: Plot) -> Section:
    return Section(title=table.title, table=replace(table, title=""), plots=plots)


def _reproduced(reproduction: Reproduction) -> Iterator[Section]:
    for place, answer in enumerate(reproduction.answers):
        if reproduction.compared:
            plots = comparison_section(reproduction.compared[place]).plots
        else:
            plots = () if place else tuple(reproduction_plots(reproduction))
        yield _titled(answer, *plots)
    yield _titled(reproduction.deviations)
