"""`embedlab data check`: corpora read and compared with the published ones."""

import typer

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import ExitCode
from embedlab.workflows.options.data import DatasetsOptions

EXAMPLES = examples(
    "embedlab data check --data DIR",
    "embedlab data check snli sts12 --allow-partial --json",
    "embedlab data check ./my-folder",
)


@common("data", "output")
@takes
def check(options: DatasetsOptions, *, terminal: Terminal) -> None:
    """Read datasets, your own files and folders or hub:OWNER/NAME, and compare datasets with the
    published corpora.

    Your own rows are audited, also split against split: duplicates, near duplicates, contradictory
    gold, scores out of scale, labels and ids that only one side has, and text of the test in train.

    All in the data folder when none is named. "whole" has the published counts and the published
    content; "counts right" has the counts, but a file with another hash, or one of which no hash is
    recorded. Ends with 3 when one is missing, truncated or damaged.
    """
    from embedlab.reports.tables import Column, Role, Table
    from embedlab.workflows.data import check_data

    checked = check_data(options.names, terminal)
    titles = ("dataset", "split", "rows", "expected", "state", "skipped", "note")
    roles: dict[str, Role] = {"dataset": "key", "split": "key", "skipped": "text", "note": "text"}
    columns = tuple(Column(key=key, title=key, role=roles.get(key)) for key in titles)
    terminal.show(
        Table(title="Datasets checked", columns=columns, rows=[vars(split) for split in checked])
    )
    if not all(split.is_usable for split in checked):
        raise typer.Exit(ExitCode.MISSING)
