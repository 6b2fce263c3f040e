"""The figures that exist: each file of `embedlab/reports/figures/` declares one, and nothing else
lists them.
"""

import pkgutil
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from embedlab.core.errors import UsageError
from embedlab.core.nearest import unknown
from embedlab.reports import figures
from embedlab.reports.figure_subjects import Subject
from embedlab.reports.figures import FigureKind

if TYPE_CHECKING:
    from embedlab.reports.paper_figure import PaperFigure


@cache
def _all_kinds() -> tuple[FigureKind, ...]:
    modules = [
        import_module(f"{figures.__name__}.{module.name}")
        for module in pkgutil.iter_modules(figures.__path__)
    ]
    return tuple(module.FIGURE for module in modules)


def figure_kinds(of: type[Subject]) -> dict[str, FigureKind]:
    """Return the figures of a kind of results by name, the usual one first."""
    kinds = [kind for kind in _all_kinds() if kind.of is of]
    return {
        kind.name: kind for kind in sorted(kinds, key=lambda kind: (not kind.is_usual, kind.name))
    }


def figure_kind(of: type[Subject], name: str | None) -> FigureKind:
    """Return the figure called NAME, or the usual one; another name is an error that lists them."""
    kinds = figure_kinds(of)
    if name is None:
        return next(iter(kinds.values()))
    if name not in kinds:
        raise unknown("figure", name, kinds)
    return kinds[name]


def draw_figure(
    subject: Subject, kind: FigureKind, *, width_in: float, is_titled: bool
) -> "PaperFigure":
    """Return the figure of a subject; where it has nothing to draw, that is an error."""
    from embedlab.reports.paper_figure import paper_figure

    plots = kind.plots(subject)
    if not plots:
        raise UsageError(
            f"there is nothing to draw as {kind.name!r}: {kind.summary}",
            hint=f"figures: {', '.join(figure_kinds(kind.of))}",
        )
    return paper_figure(
        plots, name=kind.name, caption=kind.caption(subject), width_in=width_in, is_titled=is_titled
    )
