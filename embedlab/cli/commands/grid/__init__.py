"""`embedlab grid`: run an ablation, follow it, read its table, stop it; one file a command."""

import typer

from embedlab.cli.commands.grid import cancel, run, status, table

app = typer.Typer(name="grid", help="Run ablations: a recipe and axes, each combination with several seeds.", no_args_is_help=True)

app.command(epilog=run.EXAMPLES)(run.run)
app.command(epilog=status.EXAMPLES)(status.status)
app.command(epilog=table.EXAMPLES)(table.table)
app.command(epilog=cancel.EXAMPLES)(cancel.cancel)
