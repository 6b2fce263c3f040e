"""Small transfer and probing corpora in SentEval's layout, and an encoder that reads the label off
a word.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from embedlab.core.session import ProgressCallback
from embedlab.data.source import Source
from embedlab.encoders.encoder import Encoder, EncoderFacts, Vectors

WORDS = ("dull", "fine", "odd", "grand", "calm", "loud")


def sentence(label: int, number: int) -> str:
    """A sentence of class LABEL; every ninth says the opposite, so that no classifier is
    perfect.
    """
    return f"{WORDS[(label + (number % 9 == 0)) % len(WORDS)]} thing number {number} indeed"


def partial_source(folder: Path) -> Source:
    """The corpora in FOLDER, which have fewer rows than the published ones."""
    return Source(folder=folder, offline=True, allow_partial=True)


def write_lines(path: Path, lines: Iterable[str], *, encoding: str = "utf-8") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding=encoding)


def write_mr(folder: Path, rows: int = 40) -> None:
    for label, ending in enumerate(("neg", "pos")):
        write_lines(
            folder / f"SentEval/downstream/MR/rt-polarity.{ending}",
            (sentence(label, number) for number in range(rows)),
        )


def write_sst2(folder: Path, rows: int = 60) -> None:
    for split in ("train", "dev", "test"):
        lines = (f"{sentence(number % 2, number)} {split} \t{number % 2}" for number in range(rows))
        write_lines(folder / f"SentEval/downstream/SST/binary/sentiment-{split}", lines)


def write_mrpc(folder: Path, rows: int = 60) -> None:
    for split in ("train", "test"):
        pairs = (
            f"{n % 2}\t{n}\t{n}\t{sentence(0, n)} {split}\t{sentence(n % 2, n)}"
            for n in range(rows)
        )
        write_lines(
            folder / f"SentEval/downstream/MRPC/msr_paraphrase_{split}.txt",
            ["\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String", *pairs],
        )


def write_probing(path: Path, rows: int = 60) -> None:
    splits = {"tr": rows, "va": rows // 3, "te": rows // 3}
    write_lines(
        path,
        (
            f"{split}\t{'AB'[n % 2]}\t{sentence(n % 2, n)} {split}"
            for split, count in splits.items()
            for n in range(count)
        ),
    )


class WordEncoder(Encoder):
    """Counts of the known words and the length in letters; it remembers which sentences were
    requested.
    """

    name, fingerprint, dim = "words", "0123", len(WORDS) + 1
    facts = EncoderFacts(pooling="mean", max_tokens=9)

    def __init__(self) -> None:
        self.selected: list[str] = []

    def encode(self, sentences: Sequence[str], progress: ProgressCallback | None = None) -> Vectors:
        self.selected += sentences
        rows = [[*map(text.count, WORDS), len(text) / 10] for text in sentences]
        return np.array(rows, np.float32).reshape(-1, self.dim)
