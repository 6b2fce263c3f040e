"""`embedlab grid`: run an ablation, follow it, read its table, stop it; one file a command."""

import typer

from embedlab.cli.command_folder import add_commands

app = typer.Typer(
    name="grid",
    help="Run ablations: a recipe and axes, each combination with several seeds.",
    no_args_is_help=True,
)

add_commands(app, __name__, ("run", "status", "table", "cancel"))
