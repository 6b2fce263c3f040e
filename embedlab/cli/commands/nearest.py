"""`embedlab nearest`: the sentences of a file, or of the datasets, that a model finds closest to
one.
"""

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.sentences import NearestOptions

EXAMPLES = examples(
    'embedlab nearest "A dog runs." captions.txt --model snli-supcl --top 5',
    'embedlab nearest "A dog runs." --model snli-supcl --model dice',
    'embedlab nearest "A dog runs." pairs.tsv --column sentence1 --model dice --model sbert --json',
)


@common("data", "runs", "machine", "output")
@takes
def nearest(options: NearestOptions, *, terminal: Terminal) -> None:
    """Print the sentences closest to SENTENCE, each different one once, for each model; seeds of a
    run are averaged.

    Without FILE the sentences of the available STS datasets are searched by the vectors that
    evaluations have cached.
    """
    from embedlab.workflows.nearest import nearest_table

    terminal.show(nearest_table(options, terminal))
