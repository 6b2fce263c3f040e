"""Documents that another program found for queries, in TREC's format: `trec:FILE`, a model of the
task of retrieval.

A line of the file is `query Q0 document rank score name`; the scores decide the order, as in
trec_eval, not the ranks.
"""

from pathlib import Path

from embedlab.data.queries import Run, read_run
from embedlab.encoders.encoder import no_similarities
from embedlab.models.encoder_kind import EncoderKind, existing_file

_FORMAT = "trec:FILE takes a run of TREC: query Q0 document rank score name"


def _locate(rest: str) -> str:
    return existing_file(rest, missing="no run", hint=_FORMAT)


def _read(location: str) -> Run:
    return read_run(Path(location))


ENCODER = EncoderKind(
    open=no_similarities(
        "'trec:{}' holds documents that were found for queries, not similarities",
        hint="compare it with --task retrieval:FOLDER",
    ),
    locate=_locate,
    backend="file",
    is_cached=False,
    has_vectors=False,
    options=(),
    found=_read,
)
