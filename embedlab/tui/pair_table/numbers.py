"""What the models score on the selection that all screens show, and the line that says so."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from embedlab.tui.model_colours import model_colour
from embedlab.tui.model_titles import short_name
from embedlab.tui.pair_table.data import compared_models
from embedlab.tui.pair_table.view import PairView
from embedlab.tui.widgets.plain import plain

if TYPE_CHECKING:
    from embedlab.comparison.selected import SelectedScore

BY_RESULTS = "chosen by results"
_FORMS = (
    (24, False),
    (16, False),
    (12, False),
    (12, True),
    (8, True),
    (5, True),
)  # cells of a model's name, and whether words are left out
_DETAILS = ("intervals", "one interval", "differences", "scores")  # the first that has room
_PATH = " › "


@dataclass(frozen=True, kw_only=True)
class SelectionNumbers:
    """How many pairs are selected, and what each model scores on them."""

    pairs: int
    total: int
    title: str  # empty for all pairs
    name: str  # that the user gave it
    is_by_results: bool
    noun: str = "pairs"
    score: "SelectedScore | None" = None  # None where no dataset has a score of every model
    scale: float = 100  # of the scores, as tables show them
    is_complete: bool = False  # whether intervals are known, as far as there are any
    letters: Callable[[str], str] = lambda _: ""  # of two models face to face


def count_selection(view: PairView) -> SelectionNumbers:
    """What is known of the selection of VIEW at once."""
    pairing = view.data.pairing
    return SelectionNumbers(
        pairs=int(view.holds.sum()),
        total=view.data.table.height,
        title=view.title,
        name=view.name,
        is_by_results=view.is_by_results,
        noun=f"{view.data.noun} of {view.data.task}" if view.data.task else view.data.noun,
        letters=pairing.letter if pairing is not None else lambda _: "",
    )


def score_selection(view: PairView, numbers: SelectionNumbers, reference: str | None, *, is_tested: bool) -> SelectionNumbers:
    """NUMBERS with what the models score on the selection of VIEW; without a test there are scores alone, which takes some 30 ms."""
    from embedlab.comparison.selected import selected_score  # after the first paint
    from embedlab.tasks.task import scale_of

    models = compared_models(view.data)
    if not models or not numbers.pairs:
        return replace(numbers, is_complete=is_tested)
    names = [model.name for model in models]
    selection = None if view.is_whole else view.picked()
    score = selected_score(view.outcomes, models, selection, reference if reference in names else names[0], is_tested=is_tested)
    scale = scale_of(score.found.task, score.found.metric) if score is not None else numbers.scale
    return replace(numbers, score=score, scale=scale, is_complete=is_tested)


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
    return Content.assemble(way, (named, "$text-accent bold"), (f"{numbers.pairs:,}{of} {numbers.noun}", "bold"))


def _ending(numbers: SelectionNumbers, *, is_short: bool) -> Iterator[Content]:
    """Yield what the numbers are of, and why they have no interval."""
    score = numbers.score
    if score is not None and (len(score.datasets) > 1 or score.found.metric != "spearman"):
        metric = "" if score.found.metric == "spearman" else score.found.metric
        mean = f"mean of {len(score.datasets)}{'' if is_short else ' datasets'}" if len(score.datasets) > 1 else ""
        yield Content.styled(", ".join(part for part in (metric, mean) if part), "$text-faint")
    if numbers.is_by_results:
        yield Content.styled(BY_RESULTS, "$text-warning")


def _scores(numbers: SelectionNumbers, width: int, detail: str) -> Iterator[Content]:
    """Yield each model with its score, and as much of its difference from the reference as DETAIL says."""
    score = numbers.score
    if score is None:
        return
    found, scale, is_first = score.found, numbers.scale, True
    for model, own in found.scores.items():
        title = numbers.letters(model) or short_name(plain(model), width)
        text = f" {scale * own.value:z.1f}"
        difference = found.differences.get(model)
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
