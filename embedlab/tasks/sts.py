"""The task `sts`: how well similarities rank sentence pairs by human scores."""

from embedlab.core import plugins
from embedlab.data.file_name import is_pair_file
from embedlab.data.published import STS_AVERAGES, datasets_of
from embedlab.data.source import dataset, is_scored
from embedlab.tasks.task import PairTask

STS_DATASETS = datasets_of("sts")


class Sts(PairTask):
    """The seven STS datasets, and every other dataset or file of scored pairs by itself."""

    def has_dataset(self, name: str) -> bool:
        """Return whether NAME is a dataset of scored pairs, or the user's own pairs or the
        hub's.
        """
        if plugins.find("datasets", name) is not None:
            return is_scored(dataset(name))
        if not is_pair_file(name):
            return False
        from embedlab.data.own_files import holds_queries
        from embedlab.data.probing import set_of

        return set_of(name) is None and not holds_queries(name)


TASK = Sts(
    "sts",
    "Spearman and Pearson of similarity with human scores: STS12–16, STS-B, SICK-R",
    STS_DATASETS,
    STS_AVERAGES,
)
