"""What models score on the items of a selection and on the rest, in notes."""

from collections.abc import Iterator
from math import isnan

from embedlab.analysis.comparison import ComparedSlice
from embedlab.comparison.evidence import CHOSEN
from embedlab.comparison.selected import SelectedAndRest
from embedlab.models.grammar import titles_of
from embedlab.tasks.task import scale_of


def selection_notes(halves: SelectedAndRest) -> Iterator[str]:
    """Yield the scores on what is selected, those on the rest, and what they are means over."""
    names = [*halves.selected.scores]
    titles = dict(zip(names, titles_of(names).values(), strict=True))
    yield (
        f"{halves.selected.metric} of the {halves.selected.pairs} that match: "
        f"{_scores(halves.selected, titles)}"
    )
    yield f"{halves.rest.metric} of the {halves.rest.pairs} others: {_scores(halves.rest, titles)}"
    if halves.is_by_results:
        yield CHOSEN
    if len(halves.datasets) > 1:
        yield f"scores are means over {len(halves.datasets)} datasets: {', '.join(halves.datasets)}"


def _scores(compared: ComparedSlice, titles: dict[str, str]) -> str:
    scale = scale_of(compared.task, compared.metric)
    said = []
    for name, score in compared.scores.items():
        text = f"{titles[name]} {scale * score.value:z.2f}"
        if (difference := compared.differences.get(name)) is not None:
            text += f" ({scale * difference.delta:+z.2f}"
            if not isnan(difference.low):
                text += (
                    f" [{scale * difference.low:+z.2f}, "
                    f"{scale * difference.high:+z.2f}]{difference.reach_sign}"
                )
            text += ")"
        said.append(text)
    return ", ".join(said)
