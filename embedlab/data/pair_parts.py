"""The scored pairs of several datasets, opened together."""

from collections.abc import Sequence

from embedlab.core.errors import MissingError
from embedlab.data.dataset import Part
from embedlab.data.source import Source

FIFTHS_OF = "sts-benchmark"  # a figure of tsukagoshi divides all its pairs (train, dev and test) into fifths by Dice
OTHER_SPLITS = ("train", "dev")


def open_parts(source: Source, datasets: Sequence[str], *, all_splits: bool = False) -> tuple[list[Part], list[MissingError]]:
    """Open the test pairs of DATASETS, and with ALL_SPLITS the other splits of STS-B; missing ones are returned, not raised.

    Raises the first error when nothing could be opened.
    """
    wanted: list[tuple[str, str | None]] = [(name, None) for name in datasets]
    if all_splits and FIFTHS_OF in datasets:
        wanted += [(FIFTHS_OF, split) for split in OTHER_SPLITS]
    parts, missing = [], []
    for name, split in wanted:
        try:
            parts.append(source.open(name, split))
        except MissingError as error:
            missing.append(error)
    if not parts:
        raise missing[0]
    return parts, missing
