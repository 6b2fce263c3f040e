"""`embedlab config`: which settings are in force and why."""

from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.paths import user_config_file
from embedlab.core.settings import load_settings, trust_notice

EXAMPLES = examples("embedlab config", "EMBEDLAB_DEVICE=cpu embedlab config --format json")


@common("output")
def config(*, terminal: Terminal) -> None:
    """Show every setting, its value and where it was set.

    Flags come before EMBEDLAB_* variables, these before ./embedlab.toml (or tool.embedlab in
    pyproject.toml), then the user's file.
    """
    from embedlab.reports.tables import Column, Table

    _, origins = load_settings({})
    notices = filter(
        None,
        [
            f"the user's file: {user_config_file()}",
            trust_notice(origins, {origin.key for origin in origins}),
        ],
    )
    columns = (
        Column(key="setting", title="setting", role="key"),
        Column(key="value", title="value"),
        Column(key="source", title="set by"),
    )
    rows = [
        {
            "setting": origin.key,
            "value": None if origin.value is None else str(origin.value),
            "source": origin.source,
        }
        for origin in origins
    ]
    terminal.show(Table(title="Settings", columns=columns, rows=rows, notes=tuple(notices)))
