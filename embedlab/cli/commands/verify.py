"""`embedlab verify`: whether two results are of the same thing, and how far their scores are
apart.
"""

import typer

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import ExitCode
from embedlab.workflows.options.results import VerifyOptions

EXAMPLES = examples(
    "embedlab verify mine.json theirs.json",
    "embedlab verify runs/sbert/seed-1/evaluations/sts.json "
    "runs/sbert/seed-2/evaluations/sts.json --data DIR",
)


@common("data", "runs", "output")
@takes
def verify(options: VerifyOptions, *, terminal: Terminal) -> None:
    """Say whether two results are of the same thing, which part differs if not, and by how much
    their scores differ.

    Signatures are compared part by part. Another version of embedlab is shown, but is the same
    thing if the rest is. Scores agree where they are apart by less than half of the last digit that
    tables print. A difference has a 95% interval where the pairs are at hand (--data) and the
    scores of both models are stored, in runs or in the cache. Ends with 0 where both are of the
    same thing and all scores they share agree, with 1 where anything differs.
    """
    from embedlab.workflows.verify import verify_files

    verification = verify_files(options.first, options.second, terminal)
    terminal.show(*verification.tables)
    if not verification.is_same:
        raise typer.Exit(ExitCode.FAILED)
