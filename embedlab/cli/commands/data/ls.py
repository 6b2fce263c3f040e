"""`embedlab data ls`: the known datasets, their items, and the selections that have a name."""

from dataclasses import dataclass
from typing import Annotated

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.reporting import show_report
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import UsageError
from embedlab.core.paths import TINY_FOLDER
from embedlab.workflows.options.data import DatasetsOptions, ItemsOptions, SelectionsOptions
from embedlab.workflows.options.flag import Flag

EXAMPLES = examples(
    "embedlab data ls --data DIR",
    "embedlab data ls --json",
    "embedlab data ls 'hub:OWNER/NAME?split=test'",
    "embedlab data ls trec --items --data DIR --format csv > trec.csv",
    "embedlab data ls --selections --remove negated",
)
ALSO = ("list",)


@dataclass(frozen=True, kw_only=True)
class ListedOptions(SelectionsOptions, DatasetsOptions):
    """What is listed of datasets."""

    items: Annotated[
        bool,
        Flag(
            names=("--items",),
            help="The scored items of these datasets of transfer, probing, glue or multitask, with "
            "the numbers by which a file of predictions (items:FILE) names them.",
        ),
    ] = False
    selections: Annotated[
        bool,
        Flag(
            names=("--selections",),
            help="The selections of items that `embedlab pairs --name` gave a name, @NAME in a "
            "filter.",
        ),
    ] = False


@common("data", "output")
@takes
def ls(options: ListedOptions, *, terminal: Terminal) -> None:
    """List the known datasets, or those that are named, and where each split would come from;
    nothing is read.
    """
    settings = terminal.settings
    if options.selections or options.remove:
        return _show_selections(options, terminal)
    if options.items:
        if not options.names:
            raise UsageError(
                "--items needs a dataset", hint="embedlab data ls trec --items --data DIR"
            )
        from embedlab.workflows.data_reports import items_report

        return show_report(items_report(ItemsOptions(names=options.names), settings), terminal)
    from embedlab.reports.data_tables import datasets_table
    from embedlab.workflows.data import list_splits

    return terminal.show(
        datasets_table(
            list_splits(options.names, settings),
            is_generated=settings.data == TINY_FOLDER,
            has_folder=settings.data is not None,
        )
    )


def _show_selections(options: SelectionsOptions, terminal: Terminal) -> None:
    from embedlab.analysis.named_selections import named_selections, store_selection
    from embedlab.core.nearest import unknown
    from embedlab.reports.tables import Column, Table

    for name in options.remove:
        if name not in named_selections():
            listing = "`embedlab data ls --selections` lists all"
            raise unknown("selection", name, named_selections(), listing=listing)
        store_selection(name, "")
    columns = (
        Column(key="name", title="name", role="key"),
        Column(key="expression", title="expression"),
    )
    rows = [
        {"name": f"@{name}", "expression": expression}
        for name, expression in named_selections().items()
    ]
    terminal.show(Table(title="Named selections", columns=columns, rows=rows, notes=()))
