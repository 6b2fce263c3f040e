"""`embedlab data items`: the items of classified datasets, with the numbers by which a file of predictions names them."""

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.data import ItemsOptions

EXAMPLES = examples("embedlab data items trec --data DIR --format csv > trec.csv", "embedlab data items mr mrpc glue-rte --json")


@common("data", "output")
@takes
def items(options: ItemsOptions, *, terminal: Terminal) -> None:
    """List the scored items of datasets: their numbers, labels and sentences.

    A file with the columns dataset, item and prediction is a model: `embedlab compare items:FILE MODEL --suite transfer`.
    """
    from embedlab.reports.notes import partial_notes, sample_note, with_marks
    from embedlab.reports.tables import Column, Role, Table
    from embedlab.workflows.items import listed_items

    found = listed_items(options.names, terminal.settings)
    notes = [*sample_note(found.marks), *partial_notes(found.states)]
    roles: dict[str, Role] = {key: "sentence" for key in found.frame.columns if key.startswith("sentence")}
    columns = tuple(Column(key=key, title=key, role=roles.get(key)) for key in found.frame.columns)
    terminal.show(Table(title=with_marks("Items", found.marks), columns=columns, rows=found.frame.to_dicts(), notes=notes))
