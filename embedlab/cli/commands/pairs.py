"""`embedlab pairs`: single pairs, as people and models score them."""

from dataclasses import replace

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.reporting import end, show_report
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.pairs import PairsOptions

EXAMPLES = examples(
    "embedlab pairs snli-ce snli-supcl --dataset sts12 --sort gap --limit 10 --data DIR",
    "embedlab pairs dice --where 'dice>0.8 gold<2 source:headlines' --sort 'error(dice)' "
    "--format csv",
)


@common("data", "runs", "machine", "output")
@takes
def pairs(options: PairsOptions, *, terminal: Terminal) -> None:
    """Show single pairs with every MODEL's similarity and rank error, where they disagree most
    first.

    EXPR is for example: dice>0.7 gold<2 gap>30 source:headlines sbert>0.8 "free text" /regex/
    -negated. A rank error is a model's percentile rank of a pair minus that of the gold score; the
    gap is the largest difference between the models' ranks.
    """
    from embedlab.workflows.own_files import models_and_files
    from embedlab.workflows.pairs import pairs_report

    names, files = models_and_files(options.models, bool(options.tasks), terminal.settings)
    options = replace(options, models=names, tasks=options.tasks or files)
    report = pairs_report(options, terminal)
    show_report(report, terminal)
    end(report)
