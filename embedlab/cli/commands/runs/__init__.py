"""`embedlab runs`: see runs, stop them, resume them, tidy up; one file a command."""

import typer

from embedlab.cli.command_folder import add_commands

app = typer.Typer(
    name="runs", help="See, stop, resume, rename and remove runs.", no_args_is_help=True
)

add_commands(app, __name__, ("ls", "show", "log", "resume", "cancel", "rename", "prune", "rm"))
