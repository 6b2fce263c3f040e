"""`embedlab config`: which settings are in force and why."""

from __future__ import annotations

from embedlab.commands.command import command
from embedlab.commands.terminal import Terminal
from embedlab.core.paths import user_config_file
from embedlab.core.settings import load_settings
from embedlab.reports.tables import Table, columns_of


@command("output")
def config(session: Terminal) -> None:
    """Show every setting, its value and where it was set.

    Flags win over EMBEDLAB_* variables, these over the file of --config, and that over the user's
    file.
    ./embedlab.toml (or tool.embedlab in pyproject.toml) sets only how an answer is shown.

    Examples:
        $ embedlab config
        $ EMBEDLAB_DEVICE=cpu embedlab config --format json

    """
    _, origins = load_settings({})
    notices = (f"the user's file: {user_config_file()}",)
    columns = columns_of("setting [key]", "value", "source = set by")
    rows = [
        {
            "setting": origin.key,
            "value": None if origin.value is None else str(origin.value),
            "source": origin.source,
        }
        for origin in origins
    ]
    session.show(Table("Settings", columns, rows, notices))
