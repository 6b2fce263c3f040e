"""The line below the mode bar: what is selected, what the models score on it, and the way that led
there.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from math import isnan

from rich.cells import cell_len
from textual.content import Content

from embedlab.tui.model_colours import model_colour
from embedlab.tui.model_titles import short_names
from embedlab.tui.pair_table.numbers import BY_RESULTS, SelectionNumbers
from embedlab.tui.widgets.plain import plain
from embedlab.tui.widgets.text import SteadyText

_PATH = " › "
# Cells of a model's name, and whether words are left out: the first that has room.
_FORMS = ((24, False), (16, False), (12, False), (12, True), (8, True), (5, True))
_LEFT_OUT = "…"  # behind a score whose difference has no room


class SelectionLine(SteadyText):
    """The selection on one line; a screen that is not about it says so, and shows nothing where all
    pairs are selected.
    """

    def __init__(self, *, is_of_screen: bool) -> None:
        super().__init__(markup=False)
        self._is_of_screen = is_of_screen
        self._numbers: SelectionNumbers | None = None
        self._path: Sequence[str] = ()
        self.display = False

    def show(self, numbers: SelectionNumbers, path: Sequence[str]) -> None:
        """Show NUMBERS, and the steps of the PATH before them."""
        self._numbers, self._path = numbers, tuple(path)
        self._draw()

    def on_resize(self) -> None:
        """Fit the line to the width."""
        self._draw()

    def _draw(self) -> None:
        if self._numbers is None:
            return
        draw = selection_line if self._is_of_screen else other_screen_line
        width = self.screen.size.width - self.styles.gutter.width
        content = draw(self._numbers, width, path=self._path)
        self.display = content != Content("")
        self.update(content)


def selection_line(numbers: SelectionNumbers, width: int, *, path: Sequence[str] = ()) -> Content:
    """The selection in WIDTH cells: the way to it, its name, how many pairs, and the scores as far
    as they have room.

    As many models as possible have their difference, always with its interval where there is one.
    Where all differences of what is selected have no room, or the scores of all pairs have none,
    the scores have a line of their own.
    """
    counts = range(len(numbers.score.found.differences) if numbers.score is not None else 0, -1, -1)
    one = [partial(_on_one, numbers, path, width, count) for count in counts]
    two = (
        [partial(_on_two, numbers, path, width, count) for count in counts]
        if numbers.score is not None
        else []
    )
    forms = (
        chain.from_iterable(zip(one, two, strict=True))
        if numbers.title and two
        else chain(one, two)
    )
    fitting = (form() for form in forms)
    return next(
        (line for line in fitting if line is not None),
        _head(numbers, path).truncate(width, ellipsis=True),
    )


def _on_one(
    numbers: SelectionNumbers, path: Sequence[str], width: int, differences: int
) -> Content | None:
    """Return all on one line; None where that has no room."""
    for name, is_short in _FORMS:
        scores = (
            [Content("  ").join(_scores(numbers, name, differences))]
            if numbers.score is not None
            else []
        )
        line = Content("  ").join(
            [_head(numbers, path, is_short=is_short), *scores, *_ending(numbers, is_short=is_short)]
        )
        if line.cell_length <= width:
            return line
    return None


def _on_two(
    numbers: SelectionNumbers, path: Sequence[str], width: int, differences: int
) -> Content | None:
    """Return the scores below the rest; None where they have no room, unless they are without any
    difference: they are cut then.
    """
    for name, _ in _FORMS:
        scores = Content("  ").join(_scores(numbers, name, differences))
        if scores.cell_length <= width or (not differences and name == _FORMS[-1][0]):
            head = Content("  ").join([_head(numbers, path), *_ending(numbers, is_short=False)])
            return Content("\n").join(
                [line.truncate(width, ellipsis=True) for line in (head, scores)]
            )
    return None


def _head(numbers: SelectionNumbers, path: Sequence[str], *, is_short: bool = False) -> Content:
    way = Content.styled(
        "".join(f"{plain(step)}{_PATH}" for step in (path[-1:] if is_short else path)),
        "$text-faint",
    )
    named = f"@{numbers.name}  " if numbers.name else ""
    of = "" if is_short or numbers.pairs == numbers.total else f" of {numbers.total:,}"
    noun = f"{numbers.noun} of {numbers.task}" if numbers.task else numbers.noun
    return Content.assemble(
        way, (named, "$text-accent bold"), (f"{numbers.pairs:,}{of} {noun}", "bold")
    )


def _ending(numbers: SelectionNumbers, *, is_short: bool) -> Iterator[Content]:
    """Yield what the numbers are of, and why they have no interval."""
    of = _measured(numbers, is_short=is_short)
    if of:
        yield Content.styled(plain(of), "$text-faint")
    if numbers.is_by_results:
        yield Content.styled(BY_RESULTS, "$text-warning")


def _measured(numbers: SelectionNumbers, *, is_short: bool) -> str:
    """Say what the scores measure: datasets and how many of their items, where these are not all
    that are selected.
    """
    score = numbers.score
    if score is None:
        return ""
    is_part, several = score.found.pairs < numbers.pairs, len(score.datasets) > 1
    metric = "" if score.found.metric == "spearman" else score.found.metric
    datasets = (
        f"mean of {len(score.datasets)}{'' if is_short else ' datasets'}"
        if several
        else f"on {score.datasets[0]}" * is_part
    )
    count = f"{score.found.pairs:,} {numbers.noun}" * is_part
    return ", ".join(text for text in (metric, datasets, count) if text)


def _scores(numbers: SelectionNumbers, width: int, differences: int) -> Iterator[Content]:
    """Yield each model with its score, and as many of them as DIFFERENCES says with their
    difference from the reference.
    """
    score = numbers.score
    if score is None:
        return
    compared, scale = score.found, numbers.scale
    titles = short_names(
        dict.fromkeys(compared.scores, width)
    )  # different ones, if some cut makes them so
    shown = [*compared.differences][:differences]
    for model, slice_score in compared.scores.items():
        title = numbers.letters(model) or plain(titles[model])
        text = f" {scale * slice_score.value:z.1f}"
        if model in shown:
            difference = compared.differences[model]
            text += f" {scale * difference.delta:+z.1f}"
            if not isnan(difference.low):
                text += f" [{scale * difference.low:+z.1f} {scale * difference.high:+z.1f}]"
        left_out = (
            [(f" {_LEFT_OUT}", "$text-faint")]
            if model in compared.differences and model not in shown
            else []
        )
        yield Content.assemble((title, model_colour(model)), text, *left_out)


def other_screen_line(
    numbers: SelectionNumbers, width: int, *, path: Sequence[str] = ()
) -> Content:
    """What a screen says that is not about the selection; empty where all pairs are selected."""
    if not numbers.title and not path:
        return Content("")
    what = f"@{numbers.name}" if numbers.name else numbers.title or "all pairs"
    text = (
        f"{_head(numbers, path).plain}: {what} · the numbers of this screen are not of the "
        f"selection"
    )
    return Content.styled(
        text if cell_len(text) <= width else f"{text[: max(0, width - 1)]}…", "$text-faint"
    )
