"""A file of sentences becomes a file of vectors, chunk by chunk, so that a kill costs one chunk."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from embedlab.core.errors import EmbedlabError, Interrupted, MissingError, UsageError
from embedlab.core.paths import file_hash
from embedlab.core.settings import Settings
from embedlab.data.table_file import sentences
from embedlab.encoders import partial_vectors
from embedlab.encoders.encoder import Encoder
from embedlab.encoders.partial_vectors import PartialVectors, Shard
from embedlab.models.catalog import ModelSpec
from embedlab.reports.notes import facts_of
from embedlab.workflows.models import needs_network, one_member, resolve_model
from embedlab.workflows.options.sentences import EncodeOptions
from embedlab.workflows.session import Session

FLOAT_BYTES = 4


@dataclass(frozen=True, kw_only=True)
class EncodedFile:
    """The vectors in a file, and how the model was used."""

    rows: int
    dim: int
    facts: Mapping[str, str]
    shard: Shard | None = None  # whose part of the rows it is


def encode_file(options: EncodeOptions, session: Session) -> EncodedFile:
    """Write one vector for each sentence, in order; the same call continues after the last chunk
    that was saved. A shard saves its chunks alone.
    """
    shard = Shard.read(options.shard) if options.shard is not None else None
    _check_out(options.out, is_replaced=options.is_replaced)
    count = _count(options.file, options.column)
    spec = one_member(resolve_model(options.model, session))
    if spec.is_fitted:
        raise UsageError(
            f"{options.model!r}: @whiten=fit needs all sentences at once, and files are "
            f"encoded in pieces",
            hint=f"@whiten={options.file}",
        )

    encoder = _encoder(spec, count, session.settings)
    job = partial_vectors.Job(
        fingerprint=encoder.fingerprint,
        input_sha256=file_hash(options.file),
        column=options.column,
        sentences=count,
        chunk=partial_vectors.CHUNK,
    )
    with PartialVectors.held(
        options.out, job, is_replaced=options.is_replaced, shard=shard
    ) as partial:
        _encode_all(partial, encoder, options.file, session, shard)
        if shard is not None:
            return _encoded_shard(partial, shard, encoder)
        truncated = partial.assemble(options.out, encoder.dim)
    for text in encoder.facts.notes:
        session.note(text)
    if truncated:
        session.note(f"{truncated} sentences were cut at {encoder.facts.max_tokens} tokens")
    return EncodedFile(rows=count, dim=encoder.dim, facts=facts_of(encoder.facts))


def _encoded_shard(partial: PartialVectors, shard: Shard, encoder: Encoder) -> EncodedFile:
    job = partial.job
    firsts = [first for first in range(0, job.sentences, job.chunk) if shard.has(first, job)]
    rows = sum(min(job.chunk, job.sentences - first) for first in firsts)
    return EncodedFile(rows=rows, dim=encoder.dim, facts=facts_of(encoder.facts), shard=shard)


def _encoder(spec: ModelSpec, sentences: int, settings: Settings) -> Encoder:
    """Return the encoder of SPEC, which reads and fills the cache of vectors, for so many
    SENTENCES.

    A file whose vectors would take more than half of the cache, and push out those of other models,
    is encoded without it; but the answers of a server may cost money, and none is lost.
    """
    from embedlab.encoders.device import machine
    from embedlab.encoders.loading import GIB, load_encoder

    def opened(cache: Path | None) -> Encoder:
        return load_encoder(
            spec,
            machine(settings),
            cache=cache,
            cache_gib=settings.cache_gib,
            offline=settings.offline,
        )

    encoder = opened(settings.cache)
    is_large = sentences * encoder.dim * FLOAT_BYTES > settings.cache_gib * GIB / 2
    return opened(None) if is_large and not needs_network(spec) else encoder


def _count(file: Path, column: str | None) -> int:
    """The number of sentences in a file, which must be readable twice."""
    if file.exists() and not file.is_file() and not file.is_dir():  # a pipe
        raise UsageError(
            f"{str(file)!r} can be read only once, and is read again",
            hint="write its lines to a file, and give that",
        )
    count = sum(1 for _ in sentences(file, column))
    if not count:
        raise MissingError(f"{file} holds no sentence", hint="give a file with one sentence a line")
    return count


def _check_out(out: Path, *, is_replaced: bool) -> None:
    """Refuse what cannot be written, or was made before and would be lost, before the model is
    loaded.
    """
    if out.suffix not in {".npy", ".parquet"}:
        raise UsageError(
            f"--out is {str(out)!r}: neither .npy nor .parquet",
            hint=f"for example -o {out.stem}.npy",
        )
    if not out.parent.is_dir():
        raise UsageError(
            f"--out is {str(out)!r}, but there is no folder {str(out.parent)!r}",
            hint=f"mkdir -p {out.parent}",
        )
    partial_vectors.refuse_existing(out, is_replaced=is_replaced)


def _encode_all(
    partial: PartialVectors, encoder: Encoder, file: Path, session: Session, shard: Shard | None
) -> None:
    """Encode the chunks of FILE, or of one SHARD of it, that PARTIAL lacks."""
    for note in partial.notes:
        session.note(note)
    from embedlab.encoders.encoder import RefusedTextsError

    job, done = partial.job, 0
    refused: list[tuple[int, RefusedTextsError]] = []  # the first row of the chunk
    with session.progress(f"encoding {file.name}") as tick:
        try:
            for chunk in _chunks(sentences(file, job.column), job.chunk):
                is_ours = shard is None or shard.has(done, job)
                if is_ours and not partial.holds(done, chunk):
                    before = encoder.facts.truncated
                    try:
                        partial.write(
                            done, chunk, encoder.encode(chunk), encoder.facts.truncated - before
                        )
                    except RefusedTextsError as error:
                        refused.append((done + chunk.index(error.refused[0][0]), error))
                done += len(chunk)
                tick(done, job.sentences)
        except KeyboardInterrupt:
            raise Interrupted(
                "stopped; the chunks so far are saved", hint="the same command goes on from there"
            ) from None
    if done != job.sentences:
        raise MissingError(
            f"{str(file)!r} was changed while it was read", hint="type the command again"
        )
    if refused:
        row, first = refused[0]
        known = first.at([text for _, error in refused for text in error.refused])
        raise EmbedlabError(
            f"{file}, sentence {row + 1}: {known.message}", hint=known.hint
        ) from first


def _chunks(stream: Iterator[str], size: int) -> Iterator[list[str]]:
    while chunk := list(islice(stream, size)):
        yield chunk
