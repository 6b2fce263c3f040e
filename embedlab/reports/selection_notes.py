"""What models score on the items of a selection and on the rest, in notes."""

from collections.abc import Iterator
from math import isnan

from embedlab.analysis.comparison import ComparedSlice
from embedlab.comparison.evidence import CHOSEN
from embedlab.comparison.selected import SelectedAndRest
from embedlab.models.grammar import titles_of
from embedlab.tasks.task import scale_of


def selection_notes(found: SelectedAndRest) -> Iterator[str]:
    """Yield the scores on what is selected, those on the rest, and what they are means over."""
    names = [*found.selected.scores]
    titles = dict(zip(names, titles_of(names).values(), strict=True))
    yield f"{found.selected.metric} of the {found.selected.pairs} that match: {_scores(found.selected, titles)}"
    yield f"{found.rest.metric} of the {found.rest.pairs} others: {_scores(found.rest, titles)}"
    if found.is_by_results:
        yield CHOSEN
    if len(found.datasets) > 1:
        yield f"scores are means over {len(found.datasets)} datasets: {', '.join(found.datasets)}"


def _scores(one: ComparedSlice, titles: dict[str, str]) -> str:
    scale = scale_of(one.task, one.metric)
    said = []
    for name, score in one.scores.items():
        text = f"{titles[name]} {scale * score.value:z.2f}"
        if (difference := one.differences.get(name)) is not None:
            text += f" ({scale * difference.delta:+z.2f}"
            if not isnan(difference.low):
                text += f" [{scale * difference.low:+z.2f}, {scale * difference.high:+z.2f}]{difference.reach_sign}"
            text += ")"
        said.append(text)
    return ", ".join(said)
