"""`embedlab encode`: a file of sentences becomes a file of vectors, chunk by chunk, so that a kill costs one chunk."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from embedlab.cli.models import ModelName, one_member, resolve_model
from embedlab.cli.notes import facts_of
from embedlab.cli.options import common, examples
from embedlab.cli.output import Terminal
from embedlab.cli.sentence_file import sentences
from embedlab.errors import Interrupted, MissingError, UsageError
from embedlab.paths import disk_errors, file_hash, write_atomic

if TYPE_CHECKING:
    import polars as pl

    from embedlab.encoders.encoder import Encoder, Vectors

EXAMPLES = examples(
    "embedlab encode snli-supcl sentences.txt -o vectors.npy",
    "embedlab encode sbert pairs.tsv --column sentence1 -o vectors.parquet",
)

PLACE = "choose another place with --out"
TRUNCATED = "truncated"  # what a chunk's metadata calls the number of its sentences that were cut
CHUNK = 8_192  # sentences between two saves: a minute or so of a large encoder on a CPU


@dataclass(frozen=True, kw_only=True)
class Job:
    """What decides the vectors; a half-done folder of another job is not gone on with."""

    fingerprint: str
    input_sha256: str
    column: str | None
    sentences: int
    chunk: int = CHUNK


@common("data", "runs", "machine", "output")
def encode(
    model: ModelName,
    file: Annotated[Path, typer.Argument(help="Text with one sentence a line, or a .tsv, .csv or .jsonl file.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to: .npy, or .parquet with sentence and vector.")],
    column: Annotated[str | None, typer.Option("--column", help="Column of a .tsv, .csv or .jsonl file. [default: sentence]")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    *,
    terminal: Terminal,
) -> None:
    """Write one vector for each sentence of FILE, in order.

    Killed in between, the same command goes on from the last chunk it saved.
    """
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
    job = Job(fingerprint=encoder.fingerprint, input_sha256=file_hash(file), column=column, sentences=count)
    folder = out.with_name(f"{out.name}.partial")
    with disk_errors(out, hint=PLACE):
        _begin(folder, job, terminal)
    done = 0
    with terminal.progress(f"encoding {file.name}") as tick:
        try:
            for first, chunk in _chunks(file, column):
                _encode_chunk(_chunk_file(folder, first), encoder, chunk)
                done = first + len(chunk)
                tick(done, count)
        except KeyboardInterrupt:
            raise Interrupted("stopped; the chunks so far are saved", hint="the same command goes on from there") from None
    if done != count:
        raise MissingError(f"{str(file)!r} was changed while it was read", hint="type the command again")
    truncated = _assemble(folder, job, out, encoder.dim)
    for text in encoder.facts.notes:
        terminal.note(text)
    if truncated:
        terminal.note(f"{truncated} sentences were cut at {encoder.facts.max_tokens} tokens")
    told, facts = f"{count} vectors of {encoder.dim} numbers in {out}", facts_of(encoder.facts)
    terminal.done(told, file=str(out), rows=count, dim=encoder.dim, model=model, **facts)


def _check_out(out: Path, *, is_replaced: bool) -> None:
    """Refuse what cannot be written, or was made before and would be lost, before the model is loaded."""
    if out.suffix not in {".npy", ".parquet"}:
        raise UsageError(f"--out is {str(out)!r}: neither .npy nor .parquet", hint=f"for example -o {out.stem}.npy")
    if not out.parent.is_dir():
        raise UsageError(f"--out is {str(out)!r}, but there is no folder {str(out.parent)!r}", hint=f"mkdir -p {out.parent}")
    if out.exists() and not is_replaced:
        raise UsageError(f"--out is {str(out)!r}, which is there already", hint="choose another name, or replace it with --force")


def _begin(folder: Path, job: Job, terminal: Terminal) -> None:
    """Make FOLDER ready for JOB: what an earlier, equal job saved in it stays."""
    described = json.dumps(asdict(job), indent=1)
    try:
        is_same = (folder / "job.json").read_text(encoding="utf-8") == described
    except OSError:
        is_same = False
    if is_same:
        terminal.note(f"going on with {folder}: {len(list(folder.glob('*.parquet')))} chunks of {job.chunk} are there")
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    write_atomic(folder / "job.json", described, hint=PLACE)


def _chunks(file: Path, column: str | None) -> Iterator[tuple[int, list[str]]]:
    stream, done = sentences(file, column), 0
    while chunk := list(islice(stream, CHUNK)):
        yield done, chunk
        done += len(chunk)


def _chunk_file(folder: Path, first: int) -> Path:
    return folder / f"{first:012d}.parquet"


def _encode_chunk(path: Path, encoder: "Encoder", chunk: list[str]) -> None:
    if path.exists():
        return
    from io import BytesIO

    content, before = BytesIO(), encoder.facts.truncated
    frame = _frame(chunk, encoder.encode(chunk))
    frame.write_parquet(content, metadata={TRUNCATED: str(encoder.facts.truncated - before)})
    write_atomic(path, content.getvalue(), hint=PLACE)


def _frame(chunk: list[str], vectors: "Vectors") -> "pl.DataFrame":
    import polars as pl

    return pl.DataFrame({"sentence": chunk, "vector": pl.Series(vectors, dtype=pl.Array(pl.Float32, vectors.shape[1]))})


def _assemble(folder: Path, job: Job, out: Path, dim: int) -> int:
    """Join the chunks into OUT, one at a time, and remove them; how many of their sentences were cut."""
    import numpy as np
    import polars as pl

    chunks = sorted(folder.glob("*.parquet"))
    truncated = sum(int(pl.read_parquet_metadata(path).get(TRUNCATED, 0)) for path in chunks)
    whole = folder / f"whole{out.suffix}.tmp"
    with disk_errors(out, hint=PLACE):
        if out.suffix == ".parquet":
            pl.scan_parquet(chunks).sink_parquet(whole)
        else:
            joined = np.lib.format.open_memmap(whole, mode="w+", dtype=np.float32, shape=(job.sentences, dim))
            for path in chunks:
                vectors = pl.read_parquet(path, columns=["vector"])["vector"].to_numpy()
                joined[int(path.stem) : int(path.stem) + len(vectors)] = vectors
            joined.flush()
        whole.replace(out)
        shutil.rmtree(folder)
    return truncated
