"""`embedlab data selections`: the selections that have a name."""

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.data import SelectionsOptions

EXAMPLES = examples("embedlab data selections", "embedlab data selections --remove negated")


@common("output")
@takes
def selections(options: SelectionsOptions, *, terminal: Terminal) -> None:
    """List the selections of items that `embedlab pairs --name` gave a name: @NAME in a filter
    holds where the expression does.
    """
    from embedlab.analysis.named_selections import named_selections, store_selection
    from embedlab.core.nearest import unknown
    from embedlab.reports.tables import Column, Table

    for name in options.remove:
        if name not in named_selections():
            raise unknown(
                "selection",
                name,
                named_selections(),
                listing="`embedlab data selections` lists all",
            )
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
