"""What a user can select of sentences: two of them, or those of a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from embedlab.workflows.options.flag import Flag
from embedlab.workflows.options.models import MODEL, NAMED_MODELS

COLUMN = Flag(
    names=("--column",), help="Column of a .tsv, .csv or .jsonl file. [default: sentence]"
)


@dataclass(frozen=True, kw_only=True)
class OfTwoSentences:
    """Two sentences, and the models that compare them."""

    first: Annotated[str, Flag(metavar="SENTENCE1", help="A sentence.")]
    second: Annotated[str, Flag(metavar="SENTENCE2", help="Another sentence.")]
    models: Annotated[Sequence[str], NAMED_MODELS]


@dataclass(frozen=True, kw_only=True)
class NearestOptions:
    """A sentence, the file to search, and the models that search it."""

    sentence: Annotated[str, Flag(metavar="SENTENCE", help="The sentence to compare with.")]
    models: Annotated[Sequence[str], NAMED_MODELS]
    file: Annotated[
        Path | None,
        Flag(
            metavar="FILE",
            help="Text with one sentence a line, or a .tsv, .csv or .jsonl file. [default: the "
            "STS datasets]",
        ),
    ] = None
    column: Annotated[str | None, COLUMN] = None
    top: Annotated[int, Flag(names=("--top",), metavar="K", help="How many to show.", min=1)] = 10


@dataclass(frozen=True, kw_only=True)
class EncodeOptions:
    """What is encoded, by which model, and where to."""

    model: Annotated[str, MODEL]
    file: Annotated[
        Path,
        Flag(metavar="FILE", help="Text with one sentence a line, or a .tsv, .csv or .jsonl file."),
    ]
    out: Annotated[
        Path,
        Flag(
            names=("--output", "--out", "-o"),
            help="The file to write: .npy, or .parquet with sentence and vector.",
        ),
    ]
    column: Annotated[str | None, COLUMN] = None
    is_replaced: Annotated[bool, Flag(names=("--force",), help="Replace an existing file.")] = False
    shard: Annotated[
        str | None,
        Flag(
            names=("--shard",),
            is_expert=True,
            metavar="I/N",
            help="Encode the I-th of N shares, whole chunks of 8,192 sentences, for N processes or "
            "machines; then the same command without --shard joins them.",
        ),
    ] = None
