"""The page of a comparison: what was compared already, of pairs then the same models by the other kinds of slices, and pair by pair."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from embedlab.choices import By
from embedlab.core.errors import MissingError
from embedlab.data.dataset import DatasetState
from embedlab.models.grammar import title_of
from embedlab.reports.comparison_page import TITLES, ComparedPairs, comparison_section, scatter_section
from embedlab.reports.html import Section, write_page
from embedlab.reports.task_page import task_sections
from embedlab.workflows.compare import CompareOptions, ComparisonReport, compare_pairs, compare_scored
from embedlab.workflows.session import Session

Facts = Callable[[Sequence[DatasetState]], Mapping[str, str]]  # what the page says of itself, by the data that was read


def write_comparison_page(path: Path, report: ComparisonReport, options: CompareOptions, facts: Facts, session: Session) -> None:
    """Write the page of a REPORT that OPTIONS gave to PATH."""
    if report.tasks is not None:
        names = [model.name for model in report.tasks.models]
        write_page(path, _title(names), list(task_sections(report.tasks)), facts=facts(report.tasks.states))
    elif report.pairs is not None:
        _write_pairs(path, report, report.pairs, options, facts, session)
    session.note(f"the page is {path}")


def _write_pairs(
    path: Path, report: ComparisonReport, found: ComparedPairs, options: CompareOptions, facts: Facts, session: Session
) -> None:
    sections = []
    states = list(found.scored.states)
    for by in sorted(TITLES, key=lambda by: by != options.by):
        try:
            own = found if by == options.by else _by_other_slices(report, found, by, options, session)
        except MissingError as error:  # the pairs of the fifths are not those of the datasets
            sections.append(Section(title=TITLES[by], text=(f"Not shown: {error.message}.",)))
            continue
        states += own.scored.states
        sections.append(comparison_section(own, report.printed if by == "dataset" else []))
    sections.append(scatter_section(found.scored))
    write_page(path, _title(found.comparison.models), sections, facts=facts(states))


def _by_other_slices(report: ComparisonReport, found: ComparedPairs, by: By, options: CompareOptions, session: Session) -> ComparedPairs:
    """The same models by another kind of slice; Dice fifths are cut from other pairs than datasets have."""
    own = CompareOptions(models=tuple(found.comparison.models), by=by, aggregate=options.aggregate if by == "dataset" else "all")
    if "dice" not in {by, options.by}:
        return compare_scored(found.scored, own, session)
    assert report.selected is not None, "pairs were selected"
    return compare_pairs(report.selected, own, session)[0]


def _title(models: Sequence[str]) -> str:
    titles = [title_of(model) for model in models]
    return " and ".join([", ".join(titles[:-1]), titles[-1]] if len(titles) > 1 else titles)
