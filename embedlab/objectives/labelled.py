"""What the objectives on labelled texts share: single sentences, or pairs that are encoded together."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from embedlab.objectives.needs import Needs


def labelled_needs(classes: Sequence[str], *, joint: bool) -> Needs:
    """The columns of labelled sentences, or of labelled pairs where they are JOINT."""
    sentences = ("sentence1", "sentence2") if joint else ("sentence",)
    return Needs(sentences=sentences, classes={"label": tuple(classes)}, joint=joint)


def describe_labelled(frame: pl.DataFrame, rng: np.random.Generator) -> list[tuple[str, str]]:
    """One row of a batch in words, as (column, text)."""
    row = frame.row(int(rng.integers(len(frame))), named=True)
    return [(column, str(text)) for column, text in row.items()]
