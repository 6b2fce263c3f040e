"""`embedlab encode`: a file of sentences becomes a file of vectors, chunk by chunk, so that a kill costs one chunk."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from embedlab.cli.models import ModelName
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import Interrupted, MissingError, UsageError
from embedlab.core.paths import file_hash
from embedlab.data.sentence_file import sentences
from embedlab.reports.notes import facts_of

if TYPE_CHECKING:
    from embedlab.encoders.encoder import Encoder
    from embedlab.encoders.partial_vectors import PartialVectors

EXAMPLES = examples(
    "embedlab encode snli-supcl sentences.txt -o vectors.npy",
    "embedlab encode sbert pairs.tsv --column sentence1 -o vectors.parquet",
)


@common("data", "runs", "machine", "output")
def encode(
    model: ModelName,
    file: Annotated[Path, typer.Argument(help="Text with one sentence a line, or a .tsv, .csv or .jsonl file.", readable=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to: .npy, or .parquet with sentence and vector.", readable=False)],
    column: Annotated[str | None, typer.Option("--column", help="Column of a .tsv, .csv or .jsonl file. [default: sentence]")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    *,
    terminal: Terminal,
) -> None:
    """Write one vector for each sentence of FILE, in order.

    Killed in between, the same command goes on from the last chunk it saved.
    """
    from embedlab.encoders import partial_vectors
    from embedlab.workflows.models import one_member, resolve_model

    _check_out(out, is_replaced=force)
    if file.exists() and not file.is_file() and not file.is_dir():  # a pipe
        raise UsageError(f"{str(file)!r} can be read only once, and is read again", hint="write its lines to a file, and give that")
    count = sum(1 for _ in sentences(file, column))
    if not count:
        raise MissingError(f"{file} holds no sentence", hint="give a file with one sentence a line")
    spec = one_member(resolve_model(model, terminal))

    from embedlab.encoders.device import machine
    from embedlab.encoders.loading import load_encoder

    encoder = load_encoder(spec, machine(terminal.settings), offline=terminal.settings.offline)
    job = partial_vectors.Job(
        fingerprint=encoder.fingerprint, input_sha256=file_hash(file), column=column, sentences=count, chunk=partial_vectors.CHUNK
    )
    with partial_vectors.PartialVectors.held(out, job, is_replaced=force) as partial:
        _encode_all(partial, encoder, file, terminal)
        truncated = partial.assemble(out, encoder.dim)
    for text in encoder.facts.notes:
        terminal.note(text)
    if truncated:
        terminal.note(f"{truncated} sentences were cut at {encoder.facts.max_tokens} tokens")
    message, facts = f"{count} vectors of {encoder.dim} numbers in {out}", facts_of(encoder.facts)
    terminal.done(message, file=str(out), rows=count, dim=encoder.dim, model=model, **facts)


def _check_out(out: Path, *, is_replaced: bool) -> None:
    """Refuse what cannot be written, or was made before and would be lost, before the model is loaded."""
    if out.suffix not in {".npy", ".parquet"}:
        raise UsageError(f"--out is {str(out)!r}: neither .npy nor .parquet", hint=f"for example -o {out.stem}.npy")
    if not out.parent.is_dir():
        raise UsageError(f"--out is {str(out)!r}, but there is no folder {str(out.parent)!r}", hint=f"mkdir -p {out.parent}")
    from embedlab.encoders.partial_vectors import refuse_existing

    refuse_existing(out, is_replaced=is_replaced)


def _encode_all(partial: "PartialVectors", encoder: "Encoder", file: Path, terminal: Terminal) -> None:
    """Encode the chunks of FILE that PARTIAL lacks."""
    for note in partial.notes:
        terminal.note(note)
    job, done = partial.job, 0
    with terminal.progress(f"encoding {file.name}") as tick:
        try:
            for chunk in _chunks(sentences(file, job.column), job.chunk):
                if not partial.holds(done, chunk):
                    before = encoder.facts.truncated
                    vectors = encoder.encode(chunk)
                    partial.write(done, chunk, vectors, encoder.facts.truncated - before)
                done += len(chunk)
                tick(done, job.sentences)
        except KeyboardInterrupt:
            raise Interrupted("stopped; the chunks so far are saved", hint="the same command goes on from there") from None
    if done != job.sentences:
        raise MissingError(f"{str(file)!r} was changed while it was read", hint="type the command again")


def _chunks(stream: Iterator[str], size: int) -> Iterator[list[str]]:
    while chunk := list(islice(stream, size)):
        yield chunk
