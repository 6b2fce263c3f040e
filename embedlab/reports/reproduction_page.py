"""The page of `embedlab reproduce --html`: each table next to the published values, with what
deviates above it and plots below.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from embedlab.data.dataset import DatasetState
from embedlab.reports.comparison_page import comparison_section
from embedlab.reports.figures import reproduction_plots
from embedlab.reports.html import Section, write_page
from embedlab.reports.reproduction import Reproduction
from embedlab.reports.tables import Table

Facts = Callable[
    [Sequence[DatasetState]], Mapping[str, str]
]  # what the page states about itself, by the data that was read


def write_reproduction_page(
    path: Path, reproductions: Sequence[Reproduction], facts: Facts
) -> None:
    """Write the page of all reproduced tables to PATH."""
    states = [
        state
        for reproduction in reproductions
        if reproduction.scored is not None
        for state in reproduction.scored.states
    ]
    sections = [section for reproduction in reproductions for section in _sections(reproduction)]
    write_page(path, f"{reproductions[0].table.paper}, reproduced", sections, facts=facts(states))


def write_claims_page(path: Path, paper: str, claims: Table, facts: Mapping[str, str]) -> None:
    """Write the page of a paper's claims to PATH."""
    write_page(
        path,
        f"{paper}, its claims",
        [Section(title=claims.title, table=replace(claims, title=""))],
        facts=facts,
    )


def _sections(reproduction: Reproduction) -> Iterator[Section]:
    yield Section(
        title=reproduction.deviations.title, table=replace(reproduction.deviations, title="")
    )
    if reproduction.compared:
        for comparison, answer in zip(reproduction.compared, reproduction.answers, strict=True):
            section = comparison_section(comparison)
            yield replace(section, title=answer.title, table=replace(answer, title=""))
        return
    plots = (tuple(reproduction_plots(reproduction)), *(() for _ in reproduction.answers[1:]))
    for answer, plot in zip(reproduction.answers, plots, strict=True):
        yield Section(title=answer.title, table=replace(answer, title=""), plots=plot)
