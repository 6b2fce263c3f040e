"""`embedlab explain`: what the words of two sentences do to their similarity, under each of some
models and between them.
"""

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.reporting import end, show_report
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.explain import ExplainOptions

EXAMPLES = examples(
    'embedlab explain "A man plays a guitar." "A man is not playing a guitar." -m minilm -m dice',
    'embedlab explain "It rains." "It is raining." -m minilm -m wordllama --instead "It is '
    'not raining."',
    'embedlab explain "Two dogs are running." "Two dogs run." -m minilm --edit negate --edit '
    "number",
)


@common("data", "runs", "machine", "output", "latex")
@takes
def explain(options: ExplainOptions, *, terminal: Terminal) -> None:
    """Print what each word of two sentences does to their similarity: what is lost without it, in
    points of percentile rank.

    Percentile ranks among the pairs of a reference make models of different scales comparable; with
    several models their differences from the first show which words make them differ. A model with
    vectors encodes each sentence without each word, once.
    """
    from embedlab.workflows.explain.run import explanation_report

    report = explanation_report(options, terminal)
    show_report(report, terminal)
    end(report)
