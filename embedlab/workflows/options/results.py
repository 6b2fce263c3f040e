"""What a user can select of results and models that are there: two files to compare, a folder to
write.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from embedlab.workflows.options.flag import Flag
from embedlab.workflows.options.models import MODEL


@dataclass(frozen=True, kw_only=True)
class VerifyOptions:
    """Two files of results."""

    first: Annotated[
        Path,
        Flag(
            metavar="A.json",
            help="What `evaluate --json` or `compare --json` printed, or a run's "
            "evaluations/TASK.json.",
        ),
    ]
    second: Annotated[Path, Flag(metavar="B.json", help="Another such file.")]


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """A model, and where it is written."""

    model: Annotated[str, MODEL]
    folder: Annotated[
        Path, Flag(metavar="DIR", help="A folder that does not exist yet or is empty.")
    ]
