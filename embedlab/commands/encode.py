"""`embedlab encode`: a file of sentences becomes a file of vectors, chunk by chunk, so that a kill
costs one chunk.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from embedlab.commands.command import command
from embedlab.commands.options import COLUMN, ENCODER_HELP, Flag, model_flag
from embedlab.core.errors import EmbedlabError, Interrupted, MissingError, UsageError
from embedlab.core.paths import file_hash
from embedlab.core.printable import count_text
from embedlab.core.session import Session
from embedlab.core.settings import Settings

if TYPE_CHECKING:
    from embedlab.encoders.encoder import Encoder, RefusedTextsError
    from embedlab.encoders.partial_vectors import PartialVectors, Shard
    from embedlab.models.catalog import ModelSpec


FLOAT_BYTES = 4


@dataclass(frozen=True, kw_only=True)
class EncodeOptions:
    """What is encoded, by which model, and where to."""

    model: Annotated[str, model_flag(ENCODER_HELP)]
    file: Annotated[
        Path,
        Flag(
            metavar="FILE",
            help="Text with one sentence a line, or a .tsv, .csv, .jsonl or .parquet file.",
        ),
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
            is_expert=True,
            metavar="I/N",
            help="Encode the I-th of N shares, whole chunks of 8,192 sentences, for N processes or "
            "machines; then the same command without --shard joins them.",
        ),
    ] = None


@command("data runs machine output")
def encode(options: EncodeOptions, session: Session) -> None:
    """Write one vector for each sentence of FILE, in order.

    If it is interrupted, the same command continues from the last saved chunk.

    Examples:
        $ embedlab encode snli-supcl sentences.txt -o vectors.npy
        $ embedlab encode sbert pairs.tsv --column sentence1 -o vectors.parquet

    """
    from embedlab.encoders import partial_vectors
    from embedlab.encoders.partial_vectors import PartialVectors, Shard
    from embedlab.evaluation import only_member, resolve_model
    from embedlab.reports.notes import usage_facts

    shard = Shard.read(options.shard) if options.shard is not None else None
    _check_out(options.out, is_replaced=options.is_replaced)
    count = _count(options.file, options.column, session)
    spec = only_member(resolve_model(options.model, session))
    if spec.is_fitted:
        raise UsageError(
            f"{options.model!r}: @whiten=fit needs all sentences at once, and files are "
            f"encoded in pieces",
            hint="@whiten=FILE, with one sentence a line in FILE",
        )

    encoder = _encoder(spec, count, session.settings)
    job = partial_vectors.Job(
        fingerprint=encoder.fingerprint,
        input_sha256=file_hash(options.file),
        column=options.column,
        sentences=count,
        chunk=partial_vectors.CHUNK,
    )
    with PartialVectors.open_locked(
        options.out, job, is_replaced=options.is_replaced, shard=shard
    ) as partial:
        _encode_all(partial, encoder, options.file, session, shard)
        rows = count
        message = f"{count_text(count, 'vectors')} of {encoder.dim} numbers in {options.out}"
        if shard is not None:
            chunk_starts = range(0, count, job.chunk)
            rows = sum(
                min(job.chunk, count - start) for start in chunk_starts if shard.has(start, job)
            )
            message = (
                f"shard {options.shard}: {count_text(rows, 'vectors')} of {encoder.dim} numbers; "
                f"when all shards "
                f"are there, the same command without --shard writes {options.out}"
            )
        truncated_count = 0 if shard is not None else partial.assemble(options.out, encoder.dim)
    if shard is None:
        for text in encoder.facts.notes:
            session.note(text)
    if truncated_count:
        session.note(
            f"{count_text(truncated_count, 'sentences were')} cut at "
            f"{encoder.facts.max_tokens} tokens"
        )
    session.done(
        message,
        file=str(options.out),
        rows=rows,
        dim=encoder.dim,
        model=options.model,
        **usage_facts(encoder.facts),
    )


def _encoder(spec: ModelSpec, sentences: int, settings: Settings) -> Encoder:
    """Return the encoder of SPEC, which reads and fills the cache of vectors, for so many
    SENTENCES.

    A file whose vectors would take more than half of the cache, and push out those of other models,
    is encoded without it; but the answers of a server may cost money, and none is lost.
    """
    from embedlab.encoders.loading import GIB, load_encoder
    from embedlab.evaluation import needs_network
    from embedlab.models.location import vector_length

    needed_bytes = sentences * (vector_length(spec) or 0) * FLOAT_BYTES
    is_large = needed_bytes > settings.cache_gib * GIB / 2
    cache = None if is_large and not needs_network(spec) else settings.cache
    return load_encoder(spec, settings, cache=cache)


def _count(file: Path, column: str | None, session: Session) -> int:
    """The number of sentences in a file, which must be readable twice; empty ones are noted."""
    from embedlab.data.own_files import sentences

    if file.exists() and not file.is_file() and not file.is_dir():  # a pipe
        raise UsageError(
            f"{str(file)!r} can be read only once, and encoding reads it twice",
            hint="write its lines to a file, and give that",
        )
    counts = Counter(bool(text.strip()) for text in sentences(file, column))
    if counts[False]:
        session.note(count_text(counts[False], "empty sentences"))
    if not counts:
        raise MissingError(f"{file} holds no sentence", hint="give a file with one sentence a line")
    return counts.total()


def _check_out(path: Path, *, is_replaced: bool) -> None:
    """Refuse what cannot be written, or was made before and would be lost, before the model is
    loaded.
    """
    from embedlab.encoders import partial_vectors

    if path.suffix not in {".npy", ".parquet"}:
        raise UsageError(
            f"--output is {str(path)!r}: neither .npy nor .parquet",
            hint=f"for example -o {path.stem}.npy",
        )
    if not path.parent.is_dir():
        raise UsageError(
            f"--output is {str(path)!r}, but there is no folder {str(path.parent)!r}",
            hint=f"mkdir -p {path.parent}",
        )
    partial_vectors.refuse_existing(path, is_replaced=is_replaced)


def _encode_all(
    partial: PartialVectors, encoder: Encoder, file: Path, session: Session, shard: Shard | None
) -> None:
    """Encode the chunks of FILE, or of one SHARD of it, that PARTIAL lacks."""
    from embedlab.data.own_files import sentences
    from embedlab.encoders.encoder import RefusedTextsError

    for note in partial.notes:
        session.note(note)

    job, start = partial.job, 0
    refusals: list[tuple[int, RefusedTextsError]] = []  # the first row of the chunk
    with session.progress(f"encoding {file.name}") as tick:
        try:
            stream = sentences(file, job.column)
            while chunk := list(islice(stream, job.chunk)):
                is_in_shard = shard is None or shard.has(start, job)
                if is_in_shard and not partial.holds(start, chunk):
                    truncated_before = encoder.facts.truncated
                    try:
                        partial.write(
                            start,
                            chunk,
                            encoder.encode(chunk),
                            encoder.facts.truncated - truncated_before,
                        )
                    except RefusedTextsError as error:
                        refusals.append((start + chunk.index(error.refused[0][0]), error))
                start += len(chunk)
                tick(start, job.sentences)
        except KeyboardInterrupt:
            raise Interrupted(
                "stopped; the chunks so far are saved", hint="the same command goes on from there"
            ) from None
    if start != job.sentences:
        raise MissingError(
            f"{str(file)!r} was changed while it was read", hint="type the command again"
        )
    if refusals:
        row, first_error = refusals[0]
        texts = [text for _, error in refusals for text in error.refused]
        all_refused = RefusedTextsError(first_error.encoder_name, texts)
        raise EmbedlabError(
            f"{file}, sentence {row + 1}: {all_refused.message}", hint=all_refused.hint
        ) from first_error
