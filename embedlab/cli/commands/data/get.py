"""`embedlab data get`: corpora fetched into the data folder."""

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.data import DatasetsOptions

EXAMPLES = examples(
    "embedlab data get snli sts-benchmark --data DIR", "embedlab data get multinli --data corpora"
)


@common("data", "output")
@takes
def get(options: DatasetsOptions, *, terminal: Terminal) -> None:
    """Fetch corpora from the hub into the data folder, on a machine that has a network; what is
    there already stays.
    """
    from embedlab.workflows.data import fetch_data

    written: list[str] = []
    for path in fetch_data(options.names, terminal):
        written.append(str(path))
        if terminal.settings.format != "json":
            terminal.write(str(path))
    terminal.done(
        f"{len(written)} files written", folder=str(terminal.settings.data), files=written
    )
