"""The figures for papers: each file of this folder declares one as its `FIGURE`, and nothing else
lists them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from embedlab.reports.figure_subjects import Subject
from embedlab.reports.plots import Plot


@dataclass(frozen=True, kw_only=True)
class FigureKind:
    """One figure: of which results it is drawn, its plots, and its caption."""

    name: str
    of: type[Subject]
    summary: str
    plots: Callable[[Any], Sequence[Plot]]  # of the subject; empty where it has nothing to draw
    caption: Callable[[Any], str]
    is_usual: bool = False  # drawn where no kind is named
