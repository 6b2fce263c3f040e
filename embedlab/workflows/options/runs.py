"""What a user can select of runs."""

from dataclasses import dataclass
from typing import Annotated

from embedlab.workflows.options.flag import Flag


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """One run."""

    run: Annotated[str, Flag(metavar="RUN", help="A run, or one seed of it as name@seed.", completes="runs")]
