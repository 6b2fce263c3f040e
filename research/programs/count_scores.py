"""Similarities of pairs by a count of their sentences alone, as a baseline: the difference between
the two counts, negated.

    python research/programs/count_scores.py FILE.csv --data DIR [--of negations]

Counted are words, or words that negate. The pairs are those of the task `contrast`: each anchor
with its entailed and with its contradicted sentence. In tables the file is a model such as
`lengths=scores:FILE.csv`.
"""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl

from embedlab.analysis.tags import word_counts
from embedlab.data.derived import COLUMNS, SOURCES, open_contrasts
from embedlab.data.source import Source
from embedlab.data.words import NEGATING

COUNTS: Mapping[str, Callable[[pl.Series], pl.Series]] = {
    "words": word_counts,
    "negations": lambda sentences: sentences.str.count_matches(NEGATING),
}


def count_scores(triples: pl.DataFrame, counted: Callable[[pl.Series], pl.Series]) -> pl.DataFrame:
    """Return the pairs of TRIPLES, each once, with their similarities by what is COUNTED."""
    pairs = pl.concat(
        [triples.select(sentence1=COLUMNS[0], sentence2=name) for name in COLUMNS[1:]]
    ).unique(maintain_order=True)
    first, second = (counted(pairs[name]).cast(pl.Int64) for name in pairs.columns)
    return pairs.with_columns(score=-(first - second).abs())


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--of", choices=COUNTS, default="words")
    options = parser.parse_args()
    source = Source(folder=options.data, allow_partial=True)
    triples = pl.concat([open_contrasts(source, name).frame for name in SOURCES])
    count_scores(triples, COUNTS[options.of]).write_csv(options.file)


if __name__ == "__main__":
    main()
