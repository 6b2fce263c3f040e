"""`embedlab explain`: what the words of two sentences do to their similarity, under each of some models and between them."""

from typing import Annotated

import typer

from embedlab.choices import EDIT_RULES, ExplainView
from embedlab.cli import completion
from embedlab.cli.models import model_option
from embedlab.cli.options import common, examples
from embedlab.cli.reporting import end, show_report
from embedlab.cli.terminal import Terminal

EXAMPLES = examples(
    'embedlab explain "A man plays a guitar." "A man is not playing a guitar." -m minilm -m dice',
    'embedlab explain "It rains." "It is raining." -m minilm -m wordllama --instead "It is not raining."',
    'embedlab explain "Two dogs are running." "Two dogs run." -m minilm --edit negate --edit number',
)


@common("data", "runs", "machine", "output", "latex")
def explain(
    first: Annotated[str, typer.Argument(metavar="SENTENCE1", help="A sentence.")],
    second: Annotated[str, typer.Argument(metavar="SENTENCE2", help="Another sentence.")],
    model: Annotated[list[str], model_option(several=True)],
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="DATASET",
            help="Pairs among which similarities are ranked. [default: the dataset that the pair is from, or else starter]",
            autocompletion=completion.datasets,
        ),
    ] = None,
    instead: Annotated[
        list[str] | None,
        typer.Option("--instead", metavar="SENTENCE", help="An edited sentence in place of the nearer one. Give it again for more."),
    ] = None,
    edit: Annotated[
        list[str] | None,
        typer.Option("--edit", metavar="|".join(EDIT_RULES), help="Edit a sentence by rule, the second where it is safe there."),
    ] = None,
    view: Annotated[
        ExplainView, typer.Option("--view", help="effects: words are left out. tokens: the sum over pairs of tokens, of mean pooling.")
    ] = "effects",
    *,
    terminal: Terminal,
) -> None:
    """Print what each word of two sentences does to their similarity: what is lost without it, in points of percentile rank.

    Percentile ranks among the pairs of a reference make models of different scales comparable; with several models their differences
    from the first show which words make them differ. A model with vectors encodes each sentence without each word, once.
    """
    from embedlab.workflows.explain.plan import ExplainOptions
    from embedlab.workflows.explain.run import explanation_report

    options = ExplainOptions(
        first=first, second=second, models=model, reference=reference, instead=instead or (), edits=edit or (), view=view
    )
    report = explanation_report(options, terminal)
    show_report(report, terminal)
    end(report)
