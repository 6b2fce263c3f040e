"""The scored pairs of several datasets, opened together."""

from collections.abc import Iterator, Sequence

from embedlab.core.errors import MissingError
from embedlab.core.plugins import shipped_names
from embedlab.data.dataset import Dataset, Part
from embedlab.data.source import Source, available, dataset

FIFTHS_OF = "sts-benchmark"  # a figure of tsukagoshi divides all its pairs (train, dev and test) into fifths by Dice
OTHER_SPLITS = ("train", "dev")


def open_parts(source: Source, datasets: Sequence[str], *, all_splits: bool = False) -> tuple[list[Part], list[MissingError]]:
    """Open the test pairs of DATASETS, and with ALL_SPLITS the other splits of STS-B; missing ones are returned, not raised.

    Raises the first error when nothing could be opened.
    """
    wanted: list[tuple[str, str | None]] = [(name, None) for name in datasets]
    if all_splits and FIFTHS_OF in datasets:
        wanted += [(FIFTHS_OF, split) for split in OTHER_SPLITS]
    return available(wanted, lambda one: source.open(*one))


def is_scored(found: Dataset) -> bool:
    """Return whether a dataset has scored pairs with a test split, or one split alone: another dev split chooses settings."""
    return found.kind == "sts" and ("test" in found.splits or len(found.splits) == 1)


def shipped_pairs() -> Iterator[tuple[Dataset, str]]:
    """Yield the test split of every shipped dataset of scored pairs, or its only one, and all of STS-B, whose fifths need all."""
    for found in filter(is_scored, map(dataset, shipped_names("datasets"))):
        for split in found.splits:
            if split == "test" or found.name == FIFTHS_OF or len(found.splits) == 1:
                yield found, split
