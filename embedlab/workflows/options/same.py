"""What a user can select of two models of which one may serve the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from embedlab.workflows.options.flag import Flag
from embedlab.workflows.options.models import MODEL, with_aliases


@dataclass(frozen=True, kw_only=True)
class SameOptions:
    """A reference, and what is served in its name."""

    reference: Annotated[
        str,
        Flag(
            metavar="REFERENCE",
            help=f"What it should be. {MODEL.help}",
            completes="models",
            reads=with_aliases,
        ),
    ]
    served: Annotated[
        str | None,
        Flag(
            metavar="SERVED",
            help="What answers: an endpoint, a folder, vectors:FILE, or any other model.",
            completes="models",
            reads=with_aliases,
        ),
    ] = None
    candidates: Annotated[
        Sequence[str],
        Flag(
            names=("--candidate",),
            metavar="MODEL",
            help="Another model that it may be, beside those of packages, finished runs and "
            "downloaded revisions; again for more.",
            completes="models",
        ),
    ] = ()
    tasks: Annotated[
        Sequence[str],
        Flag(
            names=("--task",),
            metavar="NAME",
            help="Also what the difference costs in points on this dataset or file; again for "
            "more.",
            completes="datasets",
        ),
    ] = ()
    texts: Annotated[
        Path | None,
        Flag(
            names=("--write-texts",),
            metavar="FILE",
            help="Only write the chosen texts to FILE.jsonl, for a program that brings their "
            "vectors.",
        ),
    ] = None
