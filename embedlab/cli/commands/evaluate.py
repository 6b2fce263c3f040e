"""`embedlab evaluate`: a model's numbers on the tasks."""

from dataclasses import replace

from embedlab.cli.figure_files import FigureNames, check_figures, write_figures
from embedlab.cli.generated_options import takes
from embedlab.cli.models import ModelsAndFiles
from embedlab.cli.options import Signed, common, examples
from embedlab.cli.reporting import end, show_report
from embedlab.cli.terminal import Terminal
from embedlab.workflows.evaluate_options import EvaluateOptions

EXAMPLES = examples(
    "embedlab evaluate snli-supcl dice --suite sts --data DIR",
    "embedlab evaluate sbert --task sts12 --task my-pairs.tsv --by source --metric pearson --json",
    "embedlab evaluate sbert --task mrpc --task trec --task gum-probing --setting prototyping",
    "embedlab evaluate mine faq.csv",
    "embedlab evaluate sbert --suite all",
    "embedlab evaluate glue-finetune@1 --suite glue --submission predictions",
)


@common("data", "runs", "machine", "output", "latex")
@takes(EvaluateOptions, before={"signature": "mteb", "rows": "mteb"})
def evaluate(
    models: ModelsAndFiles, options: EvaluateOptions, signature: Signed = False, figure: FigureNames = None, *, terminal: Terminal
) -> None:
    """Evaluate MODELs: correlations with human scores of pairs (sts), accuracies of linear classifiers (transfer, probing) …, x 100.

    A FILE among them is your own: of scored or labelled pairs the correlation, of anchors and positives MRR and recall.

    Aggregations: `all` correlates a dataset's pairs at once, `mean` averages its sources, `wmean` weights them by pairs. Dice fifths
    are cut within each dataset. A run with several seeds shows mean ± standard deviation. Everything
    measured is stored in the run's folder, or in the cache.
    """
    from embedlab.reports.figure_subjects import EvaluatedModels
    from embedlab.workflows.evaluate import evaluation_report
    from embedlab.workflows.own_files import models_and_files

    names, files = models_and_files(models, bool(options.tasks or options.suite), terminal.settings)
    figures = check_figures(figure, EvaluatedModels)
    report = evaluation_report(replace(options, models=names, tasks=options.tasks or files), terminal)
    show_report(report, terminal, is_signed=signature)
    write_figures(figures, report.figure_subject(), terminal)
    end(report)
