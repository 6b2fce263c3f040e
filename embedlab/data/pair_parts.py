"""The scored pairs of several datasets, opened together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from embedlab.core import plugins
from embedlab.core.errors import MissingError, UsageError
from embedlab.data.source import Source, available, dataset

if TYPE_CHECKING:
    from embedlab.data.dataset import Dataset, Part

# a figure of tsukagoshi divides all its pairs (train, dev and test) into fifths by Dice
FIFTHS_OF = "sts-benchmark"
OTHER_SPLITS = ("train", "dev")


def open_parts(
    source: Source, datasets: Sequence[str], *, all_splits: bool = False
) -> tuple[list[Part], list[MissingError]]:
    """Open the test pairs of DATASETS, and with ALL_SPLITS the other splits of STS-B; missing ones
    are returned, not raised.

    Raises the first error when nothing could be opened.
    """
    wanted: list[tuple[str, str | None]] = [(name, None) for name in datasets]
    if all_splits and FIFTHS_OF in datasets:
        wanted += [(FIFTHS_OF, split) for split in OTHER_SPLITS]
    return available(wanted, lambda name_and_split: open_scored(source, *name_and_split))


def open_scored(source: Source, name: str, split: str | None = None) -> Part:
    """Open the pairs of one dataset, the test split without another; a dataset whose rows have no
    gold score is a UsageError.
    """
    if plugins.find("datasets", name) is not None and dataset(name).kind != "sts":
        hint = (
            "name a dataset of scored pairs, such as sts12; `embedlab data ls` lists what "
            "each holds"
        )
        raise UsageError(f"{name!r} has no pairs with a gold score", hint=hint)
    return source.open(name, split)


def is_scored(candidate: Dataset) -> bool:
    """Return whether a dataset has scored pairs with a test split, or one split alone: another dev
    split chooses settings.
    """
    return candidate.kind == "sts" and ("test" in candidate.splits or len(candidate.splits) == 1)
