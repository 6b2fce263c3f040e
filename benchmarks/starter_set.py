"""Makes the starter set, embedlab/data/starter, from a folder of corpora: python
benchmarks/starter_set.py DIR [--to FOLDER].

The same corpora give the same bytes. What is selected, and why:

- STS Benchmark: the lines of the sources `images` and `track5.en-en`, whose text may be passed on,
  in their own three splits;
- SNLI train: premises with all their pairs, first those with an entailment, a neutral and a
  contradiction, then those with an entailment and one of the others, in the order of the corpus
  until there are 8,000 pairs. A premise is left out where it or one of its hypotheses is a sentence
  of the pairs above, so that a model trained on these rows has seen none of the sentences it is
  scored on;
- Open English WordNet: the words that occur most in those SNLI sentences and have at most four
  definitions, with all of these, as long as they are not more than 2,000 together.

README.md and the licences in the folder are written by hand; MANIFEST.tsv is made.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from embedlab.core.paths import STARTER_FOLDER
from embedlab.data.overlaps import KnownText
from embedlab.data.source import MANIFEST, SOURCES, dataset

PAIRS, DEFINITIONS = 8_000, 2_000
MOST_DEFINITIONS = 4  # of a word: a word with twenty meanings says little about any of them
STS = tuple(f"STS/STSBenchmark/sts-{split}.csv" for split in ("train", "dev", "test"))
SNLI, OEWN = "SNLI/snli_1.0_train.jsonl", "OEWN/definitions.tsv"
_WORD = re.compile(r"[a-z]{3,}")


def starter_files(corpora: Path) -> dict[str, str]:
    """Return the text of each file of the set, by its path in the layout of the corpora."""
    files = {path: _lines(corpora / path, 1, SOURCES) for path in STS}
    pair_file, nli_file = (
        dataset(name).splits["train"].layouts[0] for name in ("sts-benchmark", "snli")
    )
    scored = pl.concat([pair_file.read([corpora / path]).frame for path in STS]).filter(
        pl.col("source").is_in(SOURCES)
    )
    pairs = selected_pairs(
        nli_file.read([corpora / SNLI]).frame, scored.select("sentence1", "sentence2")
    )
    assert nli_file.write is not None
    (files[SNLI],) = nli_file.write(pairs)
    words = selected_words(
        corpora / OEWN, [*pairs["premise"].unique(maintain_order=True), *pairs["hypothesis"]]
    )
    files[OEWN] = _lines(corpora / OEWN, 0, words)
    return files


def selected_pairs(corpus: pl.DataFrame, scored: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs of SNLI in the set, in the order of the corpus; SCORED are the pairs that
    are evaluated on.
    """
    tested = KnownText.of([scored])
    rows = corpus.with_columns(
        shared=pl.Series(
            [
                one.shared_sentences > 0
                for one in tested.row_overlaps(corpus.select("premise", "hypothesis"))
            ]
        )
    ).with_row_index("row")
    groups = rows.group_by("premise", maintain_order=True).agg(
        pl.col("row"),
        pl.len().alias("pairs"),
        pl.col("shared").any(),
        pl.col("label").n_unique().alias("labels"),
        is_entailed(),
    )
    fit = groups.filter(~pl.col("shared"), pl.col("entailed"), pl.col("labels") > 1).sort(
        "labels", descending=True, maintain_order=True
    )
    taken = (
        fit.filter(pl.col("pairs").cum_sum().shift(1, fill_value=0) < PAIRS)["row"].explode().sort()
    )
    return corpus[taken]


def is_entailed() -> pl.Expr:
    """Return whether a premise entails one of its hypotheses."""
    return (pl.col("label") == "entailment").any().alias("entailed")


def selected_words(dictionary: Path, sentences: Iterable[str]) -> set[str]:
    """Return the words whose definitions are in the set."""
    counts = Counter(word for sentence in sentences for word in _WORD.findall(sentence.lower()))
    definitions = Counter(
        line.partition("\t")[0] for line in dictionary.read_text(encoding="utf-8").splitlines()
    )
    found: set[str] = set()
    rows = 0
    for word in sorted(counts, key=lambda word: (-counts[word], word)):
        if 0 < definitions[word] <= MOST_DEFINITIONS and rows + definitions[word] <= DEFINITIONS:
            found.add(word)
            rows += definitions[word]
    return found


def _lines(path: Path, field: int, values: Iterable[str]) -> str:
    """Return the lines of a tab-separated file in which FIELD is one of VALUES, as they are."""
    wanted = set(values)
    lines = path.read_bytes().decode("utf-8").split("\n")
    return "".join(f"{line}\n" for line in lines if line and line.split("\t")[field] in wanted)


def manifest(files: dict[str, str]) -> str:
    """Return the table of the files: path, lines and sha256."""
    rows = [
        f"{path}\t{text.count(chr(10))}\t{sha256(text.encode()).hexdigest()}"
        for path, text in sorted(files.items())
    ]
    return "\n".join(["path\tlines\tsha256", *rows, ""])


def main(words: Sequence[str]) -> None:
    """Write the files, and say how many lines and bytes each has."""
    typed = argparse.ArgumentParser(description="Make the starter set from a folder of corpora.")
    typed.add_argument("corpora", type=Path)
    typed.add_argument(
        "--to", type=Path, default=STARTER_FOLDER, help="another folder than that of the package"
    )
    options = typed.parse_args(words)
    files = starter_files(options.corpora)
    for path, text in {**files, MANIFEST: manifest(files)}.items():
        place = options.to / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())
        print(f"{path}: {text.count(chr(10)):,} lines, {len(text.encode()):,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
