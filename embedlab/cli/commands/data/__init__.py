"""`embedlab data`: corpora listed, checked, compared and fetched; one file a command."""

import typer

from embedlab.cli.command_folder import add_commands

app = typer.Typer(name="data", help="See, check, compare and fetch corpora.", no_args_is_help=True)

add_commands(app, __name__, ("ls", "check", "overlaps", "get", "items"))
