"""`embedlab score`: how similar two sentences are, to each of some models."""

from typing import Annotated

import typer

from embedlab.cli.models import model_option
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal

EXAMPLES = examples(
    'embedlab score "A man plays a guitar." "Someone is making music." --model dice --model snli-supcl',
    'embedlab score "It rains." "It does not rain." --model average:sbert,defsent --json',
)


@common("data", "runs", "machine", "output")
def score(
    first: Annotated[str, typer.Argument(metavar="SENTENCE1", help="A sentence.")],
    second: Annotated[str, typer.Argument(metavar="SENTENCE2", help="Another sentence.")],
    model: Annotated[list[str], model_option(several=True)],
    *,
    terminal: Terminal,
) -> None:
    """Print the similarity of two sentences, one row a model; a run with several seeds shows their mean and spread."""
    from embedlab.workflows.sentences import similarity_table

    terminal.show(similarity_table(first, second, model, terminal))
