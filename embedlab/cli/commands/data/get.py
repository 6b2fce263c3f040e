"""`embedlab data get`: corpora fetched into the data folder."""

from embedlab.cli.dataset_names import DatasetNames
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal

EXAMPLES = examples("embedlab data get snli sts-benchmark --data DIR", "embedlab data get multinli --data corpora")


@common("data", "output")
def get(names: DatasetNames = None, *, terminal: Terminal) -> None:
    """Fetch corpora from the hub into the data folder, on a machine that has a network; what is there already stays."""
    from embedlab.workflows.data import fetch_data

    written: list[str] = []
    for path in fetch_data(names or (), terminal):
        written.append(str(path))
        if terminal.settings.format != "json":
            terminal.write(str(path))
    terminal.done(f"{len(written)} files written", folder=str(terminal.settings.data), files=written)
