"""`embedlab data overlaps`: sentences and pairs that corpora share."""

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.reporting import show_report
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.data import OverlapsOptions

EXAMPLES = examples(
    "embedlab data overlaps snli sts12 --data DIR",
    "embedlab data overlaps sts-benchmark:train sts12 sts13 sts14 --json",
)


@common("data", "output")
@takes
def overlaps(options: OverlapsOptions, *, terminal: Terminal) -> None:
    """Count the sentences and pairs of evaluation sets that a training set holds too, whatever
    their case and punctuation.
    """
    from embedlab.workflows.data_reports import overlaps_report

    show_report(overlaps_report(options, terminal.settings), terminal)
