"""The line below the mode bar: what is selected, what the models score on it, and the way that led there."""

from collections.abc import Iterator, Sequence
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
_DETAILS = ("intervals", "one interval", "differences", "scores")  # the first that has room


class SelectionLine(SteadyText):
    """The selection on one line; a screen that is not about it says so, and shows nothing where all pairs are selected."""

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
    """The selection in WIDTH cells: the way to it, its name, how many pairs, and the scores as far as they have room.

    Where all intervals of what is selected have no room, the scores have a line of their own.
    """
    line = _head(numbers, path)
    for detail in _DETAILS:
        for name, is_short in _FORMS:
            head, ending = _head(numbers, path, is_short=is_short), [*_ending(numbers, is_short=is_short)]
            scores = Content("  ").join(_scores(numbers, name, detail))
            line = Content("  ").join([head, *([scores] if numbers.score is not None else []), *ending])
            if line.cell_length <= width:
                return line
        if numbers.title and numbers.score is not None:
            for name, _ in _FORMS:
                scores = Content("  ").join(_scores(numbers, name, detail))
                if scores.cell_length <= width:
                    head = Content("  ").join([_head(numbers, path), *_ending(numbers, is_short=False)])
                    return Content("\n").join([head.truncate(width, ellipsis=True), scores])
    return line.truncate(width, ellipsis=True)


def _head(numbers: SelectionNumbers, path: Sequence[str], *, is_short: bool = False) -> Content:
    way = Content.styled("".join(f"{plain(step)}{_PATH}" for step in (path[-1:] if is_short else path)), "$text-faint")
    named = f"@{numbers.name}  " if numbers.name else ""
    of = "" if is_short or numbers.pairs == numbers.total else f" of {numbers.total:,}"
    noun = f"{numbers.noun} of {numbers.task}" if numbers.task else numbers.noun
    return Content.assemble(way, (named, "$text-accent bold"), (f"{numbers.pairs:,}{of} {noun}", "bold"))


def _ending(numbers: SelectionNumbers, *, is_short: bool) -> Iterator[Content]:
    """Yield what the numbers are of, and why they have no interval."""
    of = _measured(numbers, is_short=is_short)
    if of:
        yield Content.styled(plain(of), "$text-faint")
    if numbers.is_by_results:
        yield Content.styled(BY_RESULTS, "$text-warning")


def _measured(numbers: SelectionNumbers, *, is_short: bool) -> str:
    """Say what the scores measure: datasets and how many of their items, where these are not all that are selected."""
    score = numbers.score
    if score is None:
        return ""
    is_part, several = score.found.pairs < numbers.pairs, len(score.datasets) > 1
    metric = "" if score.found.metric == "spearman" else score.found.metric
    datasets = f"mean of {len(score.datasets)}{'' if is_short else ' datasets'}" if several else f"on {score.datasets[0]}" * is_part
    count = f"{score.found.pairs:,} {numbers.noun}" * is_part
    return ", ".join(text for text in (metric, datasets, count) if text)


def _scores(numbers: SelectionNumbers, width: int, detail: str) -> Iterator[Content]:
    """Yield each model with its score, and as much of its difference from the reference as DETAIL says."""
    score = numbers.score
    if score is None:
        return
    compared, scale, is_first = score.found, numbers.scale, True
    titles = short_names(dict.fromkeys(compared.scores, width))  # different ones, if some cut makes them so
    for model, slice_score in compared.scores.items():
        title = numbers.letters(model) or plain(titles[model])
        text = f" {scale * slice_score.value:z.1f}"
        difference = compared.differences.get(model)
        if difference is not None and detail != "scores":
            text += f" {scale * difference.delta:+z.1f}"
            if not isnan(difference.low) and (detail == "intervals" or (detail == "one interval" and is_first)):
                text += f" [{scale * difference.low:+z.1f} {scale * difference.high:+z.1f}]"
            is_first = False
        yield Content.assemble((title, model_colour(model)), text)


def other_screen_line(numbers: SelectionNumbers, width: int, *, path: Sequence[str] = ()) -> Content:
    """What a screen says that is not about the selection; empty where all pairs are selected."""
    if not numbers.title and not path:
        return Content("")
    what = f"@{numbers.name}" if numbers.name else numbers.title or "all pairs"
    text = f"{_head(numbers, path).plain}: {what} · the numbers of this screen are not of the selection"
    return Content.styled(text if cell_len(text) <= width else f"{text[: max(0, width - 1)]}…", "$text-faint")
