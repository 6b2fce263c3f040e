"""The task `sts`: how well similarities rank sentence pairs by human scores."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from embedlab.analysis.correlations import spearman
from embedlab.analysis.evidence import STS_AVERAGES
from embedlab.data.pair_file import is_pair_file
from embedlab.data.probing import set_of
from embedlab.data.query_file import holds_queries
from embedlab.data.source import Source, dataset, dataset_names
from embedlab.encoders.encoder import PairScorer
from embedlab.tasks.task import pair_task

if TYPE_CHECKING:
    from embedlab.objectives.objective import Trained

STS_DATASETS = ("sts12", "sts13", "sts14", "sts15", "sts16", "sts-benchmark", "sick-r")


def sts_dev_score(source: Source, dataset: str) -> Callable[[PairScorer], float]:
    """Return a function that computes the dev score, Spearman x100 on the dev split of DATASET, which is opened once."""
    frame = source.open(dataset, "dev").frame
    first, second, gold = (frame[name].to_list() for name in ("sentence1", "sentence2", "gold"))
    return lambda scorer: 100 * spearman(gold, scorer.score(first, second))


def _has_dataset(name: str) -> bool:
    """Return whether a name is a dataset of scored pairs with a test split, or one split alone, or the user's own pairs or the hub's."""
    if name in dataset_names("sts"):
        splits = dataset(name).splits
        return "test" in splits or len(splits) == 1
    return is_pair_file(name) and set_of(name) is None and not holds_queries(name)


def _trained_dev_score(source: Source, name: str) -> "Callable[[Trained], float]":
    score = sts_dev_score(source, name)
    return lambda trained: score(trained.encoder)


TASK = pair_task(
    "sts",
    "Spearman and Pearson of similarity with human scores: STS12–16, STS-B, SICK-R",
    STS_DATASETS,
    averages=STS_AVERAGES,
    has_dataset=_has_dataset,
    dev_score=_trained_dev_score,
)
