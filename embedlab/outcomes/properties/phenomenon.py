"""What makes the difference between the entailed and the contradicted sentence of a contrast."""

import polars as pl

from embedlab.analysis.overlap import dice_of_rows
from embedlab.analysis.tags import TAGS
from embedlab.outcomes.property import Property
from embedlab.runs.outcomes import CONTRADICTED

NEGATION, NUMBER, MINIMAL, OTHER = "negation", "number", "minimal edit", "other words"
LEAST_OVERLAP = 0.7  # Dice of a minimal edit


def phenomenon_of(entailed: pl.Series, contradicted: pl.Series) -> pl.Series:
    """Return the first of these that the two sentences of each contrast have: one is negated, their
    numbers differ, few words differ.
    """
    overlap = dice_of_rows(entailed, contradicted)
    negated, numbered = (
        TAGS[name].holds(entailed, contradicted) for name in ("negation", "number")
    )
    phenomenon = pl.when(negated).then(pl.lit(NEGATION)).when(numbered).then(pl.lit(NUMBER))
    return pl.select(
        phenomenon.when(overlap >= LEAST_OVERLAP).then(pl.lit(MINIMAL)).otherwise(pl.lit(OTHER))
    ).to_series()


PROPERTY = Property(
    name="phenomenon",
    summary="how the contradicted sentence of a contrast differs from the entailed one: negation, "
    "number, minimal edit, other words",
    kind="name",
    needs=("sentence2", CONTRADICTED),
    of=lambda items: phenomenon_of(items["sentence2"], items[CONTRADICTED]),
    place=(NEGATION, NUMBER, MINIMAL, OTHER).index,
)
