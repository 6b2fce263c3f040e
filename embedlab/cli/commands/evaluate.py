"""`embedlab evaluate`: a model's numbers on the tasks."""

from dataclasses import replace

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.reporting import ShownOptions, answer
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.evaluate import EvaluateOptions

EXAMPLES = examples(
    "embedlab evaluate snli-supcl dice --suite sts --data DIR",
    "embedlab evaluate sbert --task sts12 --task my-pairs.tsv --by source --metric pearson --json",
    "embedlab evaluate sbert --task mrpc --task trec --task gum-probing --setting prototyping",
    "embedlab evaluate mine faq.csv",
    "embedlab evaluate sbert --suite all",
    "embedlab evaluate glue-finetune@1 --suite glue --submission predictions",
)


@common("data", "runs", "machine", "output", "latex")
@takes
def evaluate(options: EvaluateOptions, shown: ShownOptions, *, terminal: Terminal) -> None:
    """Evaluate MODELs: correlations with human scores of pairs (sts), accuracies of linear
    classifiers (transfer, probing) …, x 100.

    A FILE among them is your own: of scored or labelled pairs the correlation, of anchors and
    positives MRR and recall.

    Aggregations: `all` correlates a dataset's pairs at once, `mean` averages its sources, `wmean`
    weights them by pairs. Dice fifths are cut within each dataset. A run with several seeds shows
    mean ± standard deviation. Everything measured is stored in the run's folder, or in the cache.
    """
    from embedlab.workflows.evaluate import evaluation_report
    from embedlab.workflows.own_files import models_and_files

    names, files = models_and_files(
        options.models, bool(options.tasks or options.suites), terminal.settings
    )
    options = replace(options, models=names, tasks=options.tasks or files)
    answer(lambda: evaluation_report(options, terminal), shown, "evaluate", terminal)
