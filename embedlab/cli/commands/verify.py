"""`embedlab verify`: whether two results are of the same thing, and how far their scores are apart."""

from pathlib import Path
from typing import Annotated

import typer

from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import ExitCode

First = Annotated[
    Path, typer.Argument(metavar="A.json", help="What `evaluate --json` or `compare --json` printed, or a run's evaluations/TASK.json.")
]
Second = Annotated[Path, typer.Argument(metavar="B.json", help="Another such file.")]

EXAMPLES = examples(
    "embedlab verify mine.json theirs.json",
    "embedlab verify runs/sbert/seed-1/evaluations/sts.json runs/sbert/seed-2/evaluations/sts.json --data DIR",
)


@common("data", "runs", "output")
def verify(first: First, second: Second, *, terminal: Terminal) -> None:
    """Say whether two results are of the same thing, which part differs if not, and by how much their scores differ.

    Signatures are compared part by part. Another version of embedlab is shown, but is the same thing if the rest is. Scores agree where
    they are apart by less than half of the last digit that tables print. A difference has a 95% interval where the pairs are at hand
    (--data) and the scores of both models are stored, in runs or in the cache. Ends with 0 where both are of the same thing and all
    scores they share agree, with 1 where anything differs.
    """
    from embedlab.workflows.verify import verify_files

    found = verify_files(first, second, terminal)
    terminal.show(*found.tables)
    if not found.is_same:
        raise typer.Exit(ExitCode.FAILED)
