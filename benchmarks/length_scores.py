"""Similarities of pairs by the length of their sentences alone, as a baseline: the difference between their numbers of words, negated.

    python benchmarks/length_scores.py FILE.csv --data DIR

The pairs are those of the task `contrast`: each anchor with its entailed and with its contradicted sentence. In tables the file is the
model `lengths=scores:FILE.csv`.
"""

import argparse
from pathlib import Path

import polars as pl

from embedlab.analysis.tags import word_counts
from embedlab.data.contrasts import COLUMNS, SOURCES, open_contrasts
from embedlab.data.source import Source


def length_scores(triples: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs of TRIPLES, each once, with their similarities."""
    pairs = pl.concat([triples.select(sentence1=COLUMNS[0], sentence2=name) for name in COLUMNS[1:]]).unique(maintain_order=True)
    first, second = (word_counts(pairs[name]).cast(pl.Int64) for name in pairs.columns)
    return pairs.with_columns(score=-(first - second).abs())


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    source = Source(folder=options.data, allow_partial=True)
    length_scores(pl.concat([open_contrasts(source, name).frame for name in SOURCES])).write_csv(options.file)


if __name__ == "__main__":
    main()
