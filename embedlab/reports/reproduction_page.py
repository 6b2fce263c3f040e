"""The page of `embedlab reproduce --html`: each table next to the published values, with what deviates above it and plots below."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from embedlab.data.dataset import DatasetState
from embedlab.papers.order import ComparedNumber
from embedlab.reports.comparison_page import comparison_section
from embedlab.reports.html import Section, write_page
from embedlab.reports.plots import Dots, Plot, Scatter, ScatterPoints, Series
from embedlab.reports.reproduction import Reproduction

Facts = Callable[[Sequence[DatasetState]], Mapping[str, str]]  # what the page states about itself, by the data that was read


def write_reproduction_page(path: Path, found: Sequence[Reproduction], facts: Facts) -> None:
    """Write the page of all reproduced tables to PATH."""
    states = [state for one in found if one.scored is not None for state in one.scored.states]
    sections = [section for one in found for section in _sections(one)]
    write_page(path, f"{found[0].table.paper}, reproduced", sections, facts=facts(states))


def _sections(one: Reproduction) -> Iterator[Section]:
    yield Section(title=one.deviations.title, table=replace(one.deviations, title=""))
    if one.compared is not None:
        section = comparison_section(one.compared)
        yield replace(section, title=one.answers[0].title, table=replace(one.answers[0], title=""))
        return
    plots = (tuple(_plots(one)), *(() for _ in one.answers[1:]))
    for answer, own in zip(one.answers, plots, strict=True):
        yield Section(title=answer.title, table=replace(answer, title=""), plots=own)


def _plots(one: Reproduction) -> Iterator[Plot]:
    """Every number against the published one, and the rows along the columns that put them in order."""
    both = [number for number in one.numbers.values() if number.printed is not None and number.mean is not None]
    if both:
        points = ScatterPoints(name=one.table.name, x=[number.printed or 0.0 for number in both], y=[number.mean or 0.0 for number in both])
        yield Scatter(title="Every number: published and ours", panels=(points,), x_axis="published", y_axis="ours", diagonal=True)
    for column in dict.fromkeys(column for columns in one.table.ranked_by for column in columns):
        numbers = {row: one.numbers[row, column] for row in one.table.sources if (row, column) in one.numbers}
        if any(number.values for number in numbers.values()):
            series = [
                Series(name="published", values=[_or_nan(number.printed) for number in numbers.values()]),
                _ours(list(numbers.values())),
            ]
            yield Dots(title=column, labels=list(numbers), series=series, axis=f"{column}; ours with one standard deviation over seeds")


def _ours(numbers: Sequence[ComparedNumber]) -> Series:
    means = [_or_nan(number.mean) for number in numbers]
    spreads = [number.sd or 0.0 for number in numbers]
    return Series(
        name="ours",
        values=means,
        low=[mean - spread for mean, spread in zip(means, spreads, strict=True)],
        high=[mean + spread for mean, spread in zip(means, spreads, strict=True)],
    )


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value
