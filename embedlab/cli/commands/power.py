"""`embedlab power`: which difference between two models these pairs and seeds can detect, and how
many seeds a wanted one needs.
"""

from dataclasses import replace

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.reporting import ShownOptions, answer
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import UsageError
from embedlab.workflows.options.models import OfFile
from embedlab.workflows.options.power import PowerOptions

EXAMPLES = examples(
    "embedlab power snli-ce snli-supcl --data DIR",
    "embedlab power snli-ce snli-supcl --task sts12 --detect 1 --seeds 5",
    "embedlab power snli-ce snli-supcl --suite transfer",
)


@common("data", "runs", "machine", "output", "latex")
@takes
def power(options: PowerOptions, rows: OfFile, shown: ShownOptions, *, terminal: Terminal) -> None:
    """Print which difference between two models can be detected: at 5%, with 80% power, on each
    dataset and on the usual averages.

    Effective items are as many independent items as would give the same variance: items of one
    topic say less.
    """
    from embedlab.workflows.own_files import models_and_files
    from embedlab.workflows.power import power_report

    typed = [options.first, options.second, *([rows.file] if rows.file is not None else [])]
    has_tasks = bool(options.tasks or options.suites)
    names, files = models_and_files(typed, has_tasks, terminal.settings)
    if len(names) != 2:
        raise UsageError(
            f"{len(names)} models are named, and two are compared",
            hint=f"embedlab power {' '.join([*names, *['MODEL'] * 2][:2])} FILE",
        )
    first, second = names
    options = replace(options, first=first, second=second, tasks=options.tasks or files)

    answer(lambda: power_report(options, terminal), shown, "power", terminal)
