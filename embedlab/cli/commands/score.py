"""`embedlab score`: how similar two sentences are, to each of some models."""

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.sentences import OfTwoSentences

EXAMPLES = examples(
    'embedlab score "A man plays a guitar." "Someone is making music." --model dice --model '
    "snli-supcl",
    'embedlab score "It rains." "It does not rain." --model average:sbert,defsent --json',
)


@common("data", "runs", "machine", "output")
@takes
def score(options: OfTwoSentences, *, terminal: Terminal) -> None:
    """Print the similarity of two sentences, one row a model; a run with several seeds shows their
    mean and spread.
    """
    from embedlab.workflows.sentences import similarity_table

    terminal.show(similarity_table(options.first, options.second, options.models, terminal))
