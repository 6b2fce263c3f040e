"""What the models score on the selection that all screens show. Without Textual."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from embedlab.tui.pair_table.data import compared_models
from embedlab.tui.pair_table.view import PairView

if TYPE_CHECKING:
    from embedlab.comparison.selected import SelectedScore

BY_RESULTS = "chosen by results"


@dataclass(frozen=True, kw_only=True)
class SelectionNumbers:
    """How many pairs are selected, and what each model scores on them."""

    pairs: int
    total: int
    title: str  # empty for all pairs
    name: str  # that the user gave it
    is_by_results: bool
    noun: str = "pairs"
    task: str = ""  # whose items they are; empty for the pairs of STS datasets
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
        noun=view.data.noun,
        task=view.data.task,
        letters=pairing.letter if pairing is not None else lambda _: "",
    )


def score_selection(
    view: PairView, numbers: SelectionNumbers, reference: str | None, *, is_tested: bool
) -> SelectionNumbers:
    """NUMBERS with what the models score on the selection of VIEW; without a test there are scores
    alone, which takes some 30 ms.
    """
    from embedlab.comparison.selected import selected_score  # after the first paint
    from embedlab.tasks.task import scale_of

    models = compared_models(view.data)
    if not models or not numbers.pairs:
        return replace(numbers, is_complete=is_tested)
    names = [model.name for model in models]
    selection = None if view.is_whole else view.picked()
    score = selected_score(
        view.outcomes,
        models,
        selection,
        reference if reference in names else names[0],
        is_tested=is_tested,
    )
    scale = scale_of(score.found.task, score.found.metric) if score is not None else numbers.scale
    return replace(numbers, score=score, scale=scale, is_complete=is_tested)
