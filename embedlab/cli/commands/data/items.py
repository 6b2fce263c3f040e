"""`embedlab data items`: the items of classified datasets, with the numbers by which a file of
predictions names them.
"""

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.reporting import show_report
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.data import ItemsOptions

EXAMPLES = examples(
    "embedlab data items trec --data DIR --format csv > trec.csv",
    "embedlab data items mr mrpc glue-rte --json",
)


@common("data", "output")
@takes
def items(options: ItemsOptions, *, terminal: Terminal) -> None:
    """List the scored items of datasets: their numbers, labels and sentences.

    A file with the columns dataset, item and prediction is a model: `embedlab compare items:FILE
    MODEL --suite transfer`.
    """
    from embedlab.workflows.data_reports import items_report

    show_report(items_report(options, terminal.settings), terminal)
