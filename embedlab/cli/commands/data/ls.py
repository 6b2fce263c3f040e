"""`embedlab data ls`: the known datasets."""

from embedlab.cli.dataset_names import DatasetNames
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal

EXAMPLES = examples("embedlab data ls --data DIR", "embedlab data ls --json", "embedlab data ls 'hub:OWNER/NAME?split=test'")


@common("data", "output")
def ls(names: DatasetNames = None, *, terminal: Terminal) -> None:
    """List the known datasets, or those that are named, and where each split would come from; nothing is read."""
    from embedlab.reports.notes import sample_note, with_marks
    from embedlab.reports.tables import Column, Table
    from embedlab.workflows.data import list_splits

    settings = terminal.settings
    rows = [{**vars(found), "from": found.origin} for found in list_splits(names or (), settings)]
    marks = ["sample"] if settings.sample else []
    notes = ["expected: rows of the published corpus; `embedlab data check` counts those that are found", *sample_note(marks)]
    notes += [] if settings.data or marks else ["no data folder is set: --data DIR or EMBEDLAB_DATA"]
    titles = ("dataset", "split", "kind", "expected", "from", "summary")
    columns = tuple(Column(key=key, title=key) for key in titles)
    terminal.show(Table(title=with_marks("Datasets", marks), columns=columns, rows=rows, notes=notes))
