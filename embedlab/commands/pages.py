"""Pages: what each says of itself, and the page of a comparison: of pairs also by other properties,
and pair by pair.
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

from embedlab.core.session import Session
from embedlab.core.version import __version__
from embedlab.reports.report import Report

if TYPE_CHECKING:
    from embedlab.data.dataset import DatasetState
    from embedlab.reports.pages import Section


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
    from embedlab.reports.pages import write_page

    names = [model.name for model in report.compared.models]
    write_page(
        path, _title(names), list(_sections(report)), facts=page_facts(report.compared.states)
    )
    session.note(f"the page is {path}")


def _sections(report: Report) -> Iterator[Section]:
    from embedlab.outcomes.frame import DATASET
    from embedlab.reports.sections import comparison_section, scatter_section

    compared = report.compared
    yield comparison_section(compared, report.printed)
    gathered = report.gathered
    if len(gathered.scored) < len(gathered.order):
        return
    for by in ALSO:
        if by != compared.slicing.by:
            slicing = replace(compared.slicing, by=by, aggregate="all", margin=None)
            yield comparison_section(
                report.gathered.compare(slicing), report.printed if by == DATASET else ()
            )
    for outcomes in gathered.scored:
        yield scatter_section(outcomes, gathered.models)


def _title(models: Sequence[str]) -> str:
    from embedlab.models.grammar import title_of

    titles = [title_of(model) for model in models]
    return " and ".join([", ".join(titles[:-1]), titles[-1]] if len(titles) > 1 else titles)
