"""`embedlab runs`: see runs, stop them, resume them, tidy up; one file a command."""

import typer

from embedlab.cli.commands.runs import cancel, log, ls, prune, rename, resume, rm, show

app = typer.Typer(name="runs", help="See, stop, resume, rename and remove runs.", no_args_is_help=True)

app.command(epilog=ls.EXAMPLES)(ls.ls)
app.command(epilog=show.EXAMPLES)(show.show)
app.command(epilog=log.EXAMPLES)(log.log)
app.command(epilog=resume.EXAMPLES)(resume.resume)
app.command(epilog=cancel.EXAMPLES)(cancel.cancel)
app.command(epilog=rename.EXAMPLES)(rename.rename)
app.command(epilog=prune.EXAMPLES)(prune.prune)
app.command(epilog=rm.EXAMPLES)(rm.rm)
