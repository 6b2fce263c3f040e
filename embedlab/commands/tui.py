"""`embedlab tui`: the dashboard."""

from __future__ import annotations

import os
import select
import shlex
import signal
import sys
import threading
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated

from embedlab.commands.command import command
from embedlab.commands.options import Flag, typed_words
from embedlab.commands.terminal import Terminal
from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.python_processes import end_piped, python_command


@dataclass(frozen=True, kw_only=True)
class DashboardOptions:
    """What the dashboard shows, and where."""

    pairs: Annotated[
        Path | None,
        Flag(
            metavar="FILE",
            help="Browse your own pairs: TSV, CSV, JSONL or parquet.",
        ),
    ] = None
    serve: Annotated[
        bool,
        Flag(help="Show the dashboard in a browser instead of this terminal."),
    ] = False
    host: Annotated[
        str,
        Flag(help="Address to serve on; whoever has the URL can do what you can."),
    ] = "127.0.0.1"
    port: Annotated[int, Flag(help="Port to serve on.", min=1, max=65535)] = 8000


@command("data runs machine output")
def tui(options: DashboardOptions, session: Terminal) -> None:
    """Browse pairs, compare models, follow runs and start trainings in a dashboard.

    Trainings go on when you quit: they are separate processes.

    Examples:
        $ embedlab tui --data DIR
        $ embedlab tui --data tiny
        $ embedlab tui --pairs mine.tsv
        $ embedlab tui --serve --port 8000

    """
    from embedlab.core.plugins import refuse_loading

    if options.serve:
        _serve(options, session)
        return
    # Textual draws what a key changed with its next frame, 60 times a second where nothing is said.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    # It is above the commands, and textual takes time.
    driver = import_module("textual.constants").DRIVER  # of a server, whose browser is the terminal
    if driver is None and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "the dashboard needs a terminal", hint="`embedlab tui --serve` shows it in a browser"
        )
    if driver is None and os.environ.get("TERM") == "dumb":
        raise MissingError(
            "the terminal 'dumb' cannot show a dashboard",
            hint="`embedlab tui --serve` shows it in a browser",
        )

    refuse_loading("the dashboard runs no plug-in")
    app = import_module("embedlab.tui.app")
    if driver is not None:
        threading.Thread(target=_end_with_server, name="end-with-server", daemon=True).start()
        import_module("embedlab.tui.served_driver").wait_for_browser()

    # A terminal that went away is neither read nor written again; what the dashboard remembers is
    # on disk already.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    dashboard = app.Dashboard(session.settings, pair_file=options.pairs)
    dashboard.run()
    if dashboard.return_code:  # Textual has printed why
        raise EmbedlabError(
            "the dashboard crashed",
            hint="please report the lines above; runs continue",
        )


def _end_with_server() -> None:
    """Wait until the server's end of stdin is closed, and end as with a terminal that went away."""
    hang_up = select.poll()
    hang_up.register(sys.stdin.fileno(), 0)  # a hang-up is reported all the same
    hang_up.poll()
    end_piped()
    os.kill(os.getpid(), signal.SIGKILL)


def _serve(options: DashboardOptions, terminal: Terminal) -> None:
    try:
        serving = import_module("embedlab.tui.serving")
    except ImportError as error:
        raise MissingError(
            "serving needs the package 'textual-serve'", hint="pip install 'embedlab[serve]'"
        ) from error
    from embedlab.runs.launch import shared_flags

    words = ("tui", *typed_words(options, "pairs"), *shared_flags(terminal.settings))
    server = serving.DashboardServer(
        shlex.join(python_command(*words)),
        host=options.host,
        port=options.port,
        theme=terminal.settings.theme,
    )
    with server.listen() as listening:
        if not serving.is_local_host(options.host):
            terminal.warn(
                f"serving on {options.host!r}: whoever has the address below can start and delete "
                f"runs and write files as you, from any machine "
                "that reaches this one; nothing is encrypted, so that the network between "
                "can read it too"
            )
        # With --quiet too: its token is the only way in.
        terminal.error(
            f"the dashboard is at {server.address} (Ctrl-C ends it); whoever has its token gets in"
        )
        server.serve_on(listening)
