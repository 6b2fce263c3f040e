"""Pages: what each says of itself, and its sections: models by a property with plots of each task,
pair by pair, and tables of a paper next to ours.
"""

from __future__ import annotations

import platform
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from embedlab.core.printable import count_text
from embedlab.core.session import Session
from embedlab.core.version import __version__
from embedlab.data.dataset import DatasetState
from embedlab.experiments.paper_file import PublishedRow
from embedlab.outcomes.frame import DATASET
from embedlab.reports.figures import (
    SCORE,
    difference_plots,
    gold_scatter,
    model_series,
    reproduction_plots,
    score_axis,
    score_plots,
    share_frames,
)
from embedlab.reports.pages import Section, write_page
from embedlab.reports.papers import Reproduction
from embedlab.reports.report import Report
from embedlab.reports.scores import comparison_table
from embedlab.reports.series import Plot
from embedlab.reports.tables import Table
from embedlab.scoring.task_comparison import TaskComparison

if TYPE_CHECKING:
    from embedlab.commands.reproduce_run import PaperClaims


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
    suffix = (
        ", partial"
        if state.partial
        else ", generated"
        if state.origin == "tiny"
        else ", content unknown"
        if is_other
        else ""
    )
    return f"{state.name} {state.split}, {count_text(state.rows, 'rows')}{suffix}" + (
        f", sha256 {digests}" if digests else ""
    )


ALSO = (
    "dataset",
    "source",
    "dice",
)  # properties by which pairs are shown besides the one of the table


def _write(
    path: Path,
    title: str,
    sections: Sequence[Section],
    states: Iterable[DatasetState],
    session: Session,
) -> None:
    write_page(path, title, sections, facts=page_facts(states))
    session.note(f"the page is {path}")


def write_comparison_page(path: Path, report: Report, session: Session) -> None:
    """Write the page of a REPORT to PATH."""
    *other_titles, last_title = report.compared.titles.values()
    title = f"{', '.join(other_titles)} and {last_title}" if other_titles else last_title
    _write(path, title, list(_sections(report)), report.compared.states, session)


def _sections(report: Report) -> Iterator[Section]:
    comparison = report.compared
    yield comparison_section(comparison, report.printed)
    gathered = report.gathered
    if len(gathered.scored) < len(gathered.order):
        return
    for property_name in ALSO:
        if property_name != comparison.slicing.by:
            slicing = replace(comparison.slicing, by=property_name, aggregate="all", margin=None)
            yield comparison_section(
                gathered.compare(slicing), report.printed if property_name == DATASET else ()
            )
    for outcomes in gathered.scored:
        yield Section(title="Pair by pair", plots=(gold_scatter(outcomes, gathered.models),))


TITLES = {DATASET: "By dataset", "dice": "By word overlap"}


def comparison_section(comparison: TaskComparison, printed: Sequence[PublishedRow] = ()) -> Section:
    """Return the models by one property: the table, then of each task their scores, the
    differences, and each next to its published row.

    A task with units of its own has only its rows in the table.
    """
    table, by = comparison_table(comparison, printed), comparison.slicing.by
    return Section(title=TITLES.get(by, f"By {by}"), table=table, plots=_plots(table, by, printed))


def _plots(table: Table, by: str, printed: Sequence[PublishedRow] = ()) -> tuple[Plot, ...]:
    """Return the plots of a comparison's TABLE."""
    plots: list[Plot] = []
    for on_task in share_frames(table.frame):
        plots += [*score_plots(on_task, by), *difference_plots(on_task, by)]
        for line in printed:
            rows = on_task.filter(model=line.model).drop_nulls("published")
            if rows.height:
                (published,) = model_series(rows, "published")
                series = [replace(published, name=f"{line.paper}, {line.table}")]
                series += model_series(rows, *SCORE)
                title = f"{line.model}: published and ours"
                plots.append(Plot("dots", title, series, score_axis(rows)))
    return tuple(plots)


def write_reproduction_page(
    path: Path, reproductions: Sequence[Reproduction], session: Session
) -> None:
    """Write the page of all reproduced tables to PATH: each next to the published values, with
    plots and what deviates below it.
    """
    states = [
        state
        for reproduction in reproductions
        if reproduction.scored is not None
        for state in reproduction.scored.states
    ]
    sections = [
        section
        for reproduction in reproductions
        for section in _reproduction_sections(reproduction)
    ]
    title = f"{reproductions[0].table.paper}, reproduced"
    _write(path, title, sections, states, session)


def write_claims_page(path: Path, claims: PaperClaims, table: Table, session: Session) -> None:
    """Write the page of a paper's CLAIMS, which the TABLE shows, to PATH."""
    _write(path, f"{claims.paper}, its claims", [_section_of_table(table)], claims.states, session)


def _section_of_table(table: Table, *plots: Plot) -> Section:
    return Section(title=table.title, table=replace(table, title=""), plots=plots)


def _reproduction_sections(reproduction: Reproduction) -> Iterator[Section]:
    for index, answer_table in enumerate(reproduction.answers):
        if reproduction.cuts:
            plots = _plots(answer_table, reproduction.cuts[index])
        else:
            plots = () if index else tuple(reproduction_plots(reproduction))
        yield _section_of_table(answer_table, *plots)
    yield _section_of_table(reproduction.deviations)
