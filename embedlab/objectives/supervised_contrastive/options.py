"""Options of the supervised contrastive objective on NLI."""

from dataclasses import replace
from typing import Literal

import numpy as np
import polars as pl

from embedlab.core.recipe import Positive, Share
from embedlab.core.schema import table
from embedlab.objectives.anchor_sets import Limit, anchor_sets, entailment_sets
from embedlab.objectives.needs import NEEDS, HeadKind, Needs
from embedlab.objectives.rows import index_rows

SUMMARY = (
    "softmax over [u; v; |u−v|] joined with supervised contrastive learning: premises pulled "
    "to their entailed hypotheses"
)


@table
class Options:
    """What a recipe may say of this objective."""

    # λ: the contrastive loss's share; liao table 6: 0.3 is best on STS, table 4: 0.1 on transfer
    weight: Share = 0.3
    temperature: Positive = 1.0  # τ; liao table 7, on raw dot products
    positives: Limit = "all"  # N+
    negatives: Limit = "all"  # N−
    # "entailments": each row labelled entailment is an anchor of its own, with its hypothesis among
    # the positives, as in the authors' code; absent: each distinct premise is one.
    anchors: Literal["entailments"] | None = None
    similarity: Literal["dot", "cosine"] = "dot"
    head: HeadKind = "two-layer"


def needs(options: Options) -> Needs:
    """The columns of NLI pairs; without cross-entropy no head is trained."""
    if options.weight == 0:
        return NEEDS
    compared = replace(
        NEEDS, compares_rows=True, contrasts=("hypothesis",), holds={"label": "entailment"}
    )
    return compared if options.weight < 1 else replace(compared, predicts=None, varies=())


def describe(
    frame: pl.DataFrame, options: Options, rng: np.random.Generator
) -> list[tuple[str, str]]:
    """One anchor of a batch in words, as (role, sentence), with its positives and negatives as
    liao's table 1 shows them.

    An annotated pair where the frame has no entailment.
    """
    rows = index_rows(frame, NEEDS)
    premise, hypothesis, label = (rows.columns[name] for name in NEEDS.columns)
    draw = entailment_sets if options.anchors == "entailments" else anchor_sets
    sets = draw(
        premise,
        hypothesis,
        label,
        positives=options.positives,
        negatives=options.negatives,
        rng=rng,
    ).with_positives()
    if not len(sets.anchors):
        return [(column, str(frame[column][0])) for column in NEEDS.columns]
    anchor = int(rng.integers(len(sets.anchors)))
    return [
        ("anchor", rows.at(sets.anchors[anchor])),
        *(("positive", rows.at(sentence)) for sentence in sets.positives[anchor].nonzero()[0]),
        *(("negative", rows.at(sentence)) for sentence in sets.negatives[anchor].nonzero()[0]),
    ]
