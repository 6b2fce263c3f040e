"""The printed STS row of a model's name, where a paper's file says that it has one."""

from collections.abc import Mapping
from dataclasses import dataclass

from embedlab.data.sts import STS_AVERAGES
from embedlab.experiments.paper_file import load_paper, published_models
from embedlab.experiments.printed import paper_names


@dataclass(frozen=True, kw_only=True)
class PublishedRow:
    """One printed row of STS scores: Spearman x100, with its settings."""

    model: str  # the name that a user types
    paper: str
    table: str
    encoder: str
    aggregate: str
    scores: Mapping[str, float]  # dataset → printed score
    average: float  # as printed, over the datasets of the row


def published_row(model: str) -> PublishedRow | None:
    """Return the printed STS row of a model name, or None where no paper prints one."""
    for paper in paper_names():
        if (entry := published_models(paper).get(model)) is not None:
            table = load_paper(paper)[entry.table]
            points = [point for point in table.points if point.row == entry.row]
            values = {
                point.measure.slice: table.printed[entry.row][point.column] for point in points
            }
            scores = {name: value for name, value in values.items() if value is not None}
            average = next(name for name in scores if name in STS_AVERAGES)
            return PublishedRow(
                model=model,
                paper=paper,
                table=entry.table,
                encoder=entry.encoder,
                aggregate=points[0].measure.setting,
                scores={name: value for name, value in scores.items() if name != average},
                average=scores[average],
            )
    return None
