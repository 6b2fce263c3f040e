"""`embedlab data ls`: the known datasets."""

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.paths import TINY_FOLDER
from embedlab.workflows.options.data import DatasetsOptions

EXAMPLES = examples(
    "embedlab data ls --data DIR",
    "embedlab data ls --json",
    "embedlab data ls 'hub:OWNER/NAME?split=test'",
)


@common("data", "output")
@takes
def ls(options: DatasetsOptions, *, terminal: Terminal) -> None:
    """List the known datasets, or those that are named, and where each split would come from;
    nothing is read.
    """
    from embedlab.reports.data_tables import datasets_table
    from embedlab.workflows.data import list_splits

    settings = terminal.settings
    terminal.show(
        datasets_table(
            list_splits(options.names, settings),
            is_generated=settings.data == TINY_FOLDER,
            has_folder=settings.data is not None,
        )
    )
