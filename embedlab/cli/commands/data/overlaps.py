"""`embedlab data overlaps`: sentences and pairs that corpora share."""

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.data import OverlapsOptions

EXAMPLES = examples("embedlab data overlaps snli sts12 --data DIR", "embedlab data overlaps sts-benchmark:train sts12 sts13 sts14 --json")


@common("data", "output")
@takes
def overlaps(options: OverlapsOptions, *, terminal: Terminal) -> None:
    """Count the sentences and pairs of evaluation sets that a training set holds too, whatever their case and punctuation."""
    from embedlab.reports.notes import with_marks
    from embedlab.reports.tables import Column, Table
    from embedlab.workflows.data import overlaps_of

    found = overlaps_of(options.training, options.evaluations, terminal.settings)
    titles = ("training", "evaluation", "sentences", "shared_sentences", "pairs", "shared_pairs")
    columns = tuple(Column(key=key, title=key.replace("_", " ")) for key in titles)
    terminal.show(Table(title=with_marks("Overlaps", found.marks), columns=columns, rows=found.frame.to_dicts(), notes=found.notes))
