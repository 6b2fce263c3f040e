"""`embedlab data`: corpora listed, checked, compared and fetched; one file a command."""

import typer

from embedlab.cli.commands.data import check, get, items, ls, overlaps, selections

app = typer.Typer(name="data", help="See, check, compare and fetch corpora.", no_args_is_help=True)

app.command(epilog=ls.EXAMPLES)(ls.ls)
app.command(epilog=check.EXAMPLES)(check.check)
app.command(epilog=overlaps.EXAMPLES)(overlaps.overlaps)
app.command(epilog=selections.EXAMPLES)(selections.selections)
app.command(epilog=get.EXAMPLES)(get.get)
app.command(epilog=items.EXAMPLES)(items.items)
