"""`embedlab power`: which difference between two models these pairs and seeds can detect, and how
many seeds a wanted one needs.
"""

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.reporting import ShownOptions, answer
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.power import PowerOptions

EXAMPLES = examples(
    "embedlab power snli-ce snli-supcl --data DIR",
    "embedlab power snli-ce snli-supcl --task sts12 --detect 1 --seeds 5",
    "embedlab power snli-ce snli-supcl --suite transfer",
)


@common("data", "runs", "machine", "output", "latex")
@takes
def power(options: PowerOptions, shown: ShownOptions, *, terminal: Terminal) -> None:
    """Print which difference between two models can be detected: at 5%, with 80% power, on each
    dataset and on the usual averages.

    Effective items are as many independent items as would give the same variance: items of one
    topic say less.
    """
    from embedlab.reports.figure_subjects import DetectableDifferences
    from embedlab.workflows.power import power_report

    answer(lambda: power_report(options, terminal), shown, DetectableDifferences, terminal)
