"""Options of the softmax classification of NLI pairs."""

from dataclasses import replace
from typing import Literal

import numpy as np
import polars as pl

from embedlab.core.errors import UsageError
from embedlab.core.schema import table
from embedlab.objectives.anchor_sets import Limit, anchor_sets
from embedlab.objectives.needs import NEEDS, NLI_CLASSES, HeadKind, Needs
from embedlab.objectives.rows import index_rows

SUMMARY = "softmax over [u; v; |u−v|] of premise and hypothesis"


@table
class Augment:
    """How many positives and negatives of each premise are classified as well-formed pairs; liao's
    "3p3n" is 3 and 3.
    """

    positives: Limit = "all"  # N+
    negatives: Limit = "all"  # N−


@table
class Options:
    """What a recipe may say of this objective."""

    head: HeadKind = "linear"  # SBERT's; liao: "two-layer"
    augment: Augment | None = None  # absent: the rows as they are annotated
    # whether a batch holds all rows of its premises; "apart": SBERT's shuffled rows
    premises: Literal["together", "apart"] = "together"


def needs(options: Options) -> Needs:
    """The columns of NLI pairs; rows of a premise may be parted only where no sets are drawn from
    them.
    """
    if options.premises == "together":
        return NEEDS if options.augment is None else replace(NEEDS, varies=())
    if options.augment is not None:
        raise UsageError(
            'premises = "apart" leaves augment no sets to draw from',
            hint='remove premises, or set it to "together"',
        )
    return replace(NEEDS, together=None)


def describe(
    frame: pl.DataFrame, options: Options, rng: np.random.Generator
) -> list[tuple[str, str]]:
    """One example of a batch in words, as (role, sentence): an annotated pair, or an anchor with
    the pairs it is classified in.
    """
    if options.augment is None:
        row = frame.row(int(rng.integers(len(frame))), named=True)
        return [
            ("premise", row["premise"]),
            ("hypothesis", row["hypothesis"]),
            ("label", row["label"]),
        ]
    rows = index_rows(frame, NEEDS)
    premise, hypothesis, label = (rows.columns[name] for name in NEEDS.columns)
    sets = anchor_sets(
        premise,
        hypothesis,
        label,
        positives=options.augment.positives,
        negatives=options.augment.negatives,
        rng=rng,
    )
    anchor = int(rng.integers(len(sets.anchors)))
    chosen = (sets.positives[anchor] | sets.negatives[anchor]).nonzero()[0]
    pairs = sorted((int(sets.classes[anchor, sentence]), rows.at(sentence)) for sentence in chosen)
    return [
        ("anchor", rows.at(sets.anchors[anchor])),
        *((NLI_CLASSES[kind], sentence) for kind, sentence in pairs),
    ]
