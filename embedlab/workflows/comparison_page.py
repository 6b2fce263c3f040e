"""The page of a comparison: what was compared, of pairs also by other properties, and pair by
pair.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from embedlab.data.dataset import DatasetState
from embedlab.models.grammar import title_of
from embedlab.outcomes.cuts import DATASET
from embedlab.reports.pages import Section, write_page
from embedlab.reports.sections import comparison_section, scatter_section
from embedlab.workflows.compare import ComparisonReport
from embedlab.workflows.session import Session

Facts = Callable[
    [Sequence[DatasetState]], Mapping[str, str]
]  # what the page says of itself, by the data that was read
ALSO = (
    DATASET,
    "source",
    "dice",
)  # properties by which pairs are shown besides the one of the table


def write_comparison_page(
    path: Path, report: ComparisonReport, facts: Facts, session: Session
) -> None:
    """Write the page of a REPORT to PATH."""
    names = [model.name for model in report.compared.models]
    write_page(path, _title(names), list(_sections(report)), facts=facts(report.compared.states))
    session.note(f"the page is {path}")


def _sections(report: ComparisonReport) -> Iterator[Section]:
    compared = report.compared
    yield comparison_section(compared, report.printed)
    gathered = report.gathered
    if len(gathered.scored) < len(gathered.order):
        return
    for by in ALSO:
        if by != compared.slicing.by:
            slicing = replace(compared.slicing, by=by, aggregate="all", margin=None)
            yield comparison_section(
                report.gathered.compared(slicing), report.printed if by == DATASET else ()
            )
    for outcomes in gathered.scored:
        yield scatter_section(outcomes, gathered.models)


def _title(models: Sequence[str]) -> str:
    titles = [title_of(model) for model in models]
    return " and ".join([", ".join(titles[:-1]), titles[-1]] if len(titles) > 1 else titles)
