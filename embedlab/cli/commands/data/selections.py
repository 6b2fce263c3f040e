"""`embedlab data selections`: the selections that have a name."""

from typing import Annotated

import typer

from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal

EXAMPLES = examples("embedlab data selections", "embedlab data selections --remove negated")


@common("output")
def selections(
    remove: Annotated[list[str] | None, typer.Option("--remove", metavar="NAME", help="Take this name away; again for more.")] = None,
    *,
    terminal: Terminal,
) -> None:
    """List the selections of items that `embedlab pairs --name` gave a name: @NAME in a filter holds where the expression does."""
    from embedlab.analysis.named_selections import named_selections, store_selection
    from embedlab.core.nearest import unknown
    from embedlab.reports.tables import Column, Table

    for name in remove or ():
        if name not in named_selections():
            raise unknown("selection", name, named_selections())
        store_selection(name, "")
    columns = (Column(key="name", title="name", role="key"), Column(key="expression", title="expression"))
    rows = [{"name": f"@{name}", "expression": expression} for name, expression in named_selections().items()]
    terminal.show(Table(title="Named selections", columns=columns, rows=rows, notes=()))
