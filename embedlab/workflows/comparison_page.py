"""The page of a comparison: what was compared already, of pairs then the same models by the other kinds of slices, and pair by pair."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from embedlab.data.dataset import DatasetState
from embedlab.models.grammar import title_of
from embedlab.papers.printed import PublishedRow
from embedlab.reports.comparison_page import TITLES, ComparedPairs, comparison_section, scatter_section
from embedlab.reports.html import write_page
from embedlab.reports.task_page import task_sections
from embedlab.workflows.compare import CompareOptions, ComparisonReport, compare_scored
from embedlab.workflows.session import Session

Facts = Callable[[Sequence[DatasetState]], Mapping[str, str]]  # what the page says of itself, by the data that was read


def write_comparison_page(path: Path, report: ComparisonReport, options: CompareOptions, facts: Facts, session: Session) -> None:
    """Write the page of a REPORT that OPTIONS gave to PATH."""
    if report.tasks is not None:
        names = [model.name for model in report.tasks.models]
        write_page(path, _title(names), list(task_sections(report.tasks)), facts=facts(report.tasks.states))
    elif report.pairs is not None:
        _write_pairs(path, report.printed, report.pairs, options, facts, session)
    session.note(f"the page is {path}")


def _write_pairs(
    path: Path, printed: Sequence[PublishedRow], found: ComparedPairs, options: CompareOptions, facts: Facts, session: Session
) -> None:
    sections = []
    for by in sorted(TITLES, key=lambda by: by != options.by):
        own = found if by == options.by else _by_other_slices(found, by, options, session)
        sections.append(comparison_section(own, printed if by == "dataset" else []))
    sections.append(scatter_section(found.scored))
    write_page(path, _title(found.comparison.models), sections, facts=facts(found.scored.states))


def _by_other_slices(found: ComparedPairs, by: str, options: CompareOptions, session: Session) -> ComparedPairs:
    """The same models on the same pairs by another kind of slice."""
    own = CompareOptions(models=tuple(found.comparison.models), by=by, aggregate=options.aggregate if by == "dataset" else "all")
    return compare_scored(found.scored, own, session)


def _title(models: Sequence[str]) -> str:
    titles = [title_of(model) for model in models]
    return " and ".join([", ".join(titles[:-1]), titles[-1]] if len(titles) > 1 else titles)
