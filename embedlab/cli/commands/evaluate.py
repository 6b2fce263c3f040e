"""`embedlab evaluate`: a model's numbers on the tasks."""

from embedlab.cli.evaluation_options import (
    Again,
    ClassifierSetting,
    CommonPairs,
    ItemsBy,
    MtebFolder,
    OnlyAggregate,
    RowsAs,
    ShownMetric,
    SubmissionFolder,
    SuiteName,
    TaskNames,
    Where,
)
from embedlab.cli.figure_files import FigureNames, check_figures, write_figures
from embedlab.cli.models import ModelsAndFiles
from embedlab.cli.options import Signed, common, examples
from embedlab.cli.reporting import end, show_report
from embedlab.cli.terminal import Terminal

EXAMPLES = examples(
    "embedlab evaluate snli-supcl dice --suite sts --data DIR",
    "embedlab evaluate sbert --task sts12 --task my-pairs.tsv --by source --metric pearson --json",
    "embedlab evaluate sbert --task mrpc --task trec --task gum-probing --setting prototyping",
    "embedlab evaluate mine faq.csv",
    "embedlab evaluate sbert --suite all",
    "embedlab evaluate glue-finetune@1 --suite glue --submission predictions",
)


@common("data", "runs", "machine", "output", "latex")
def evaluate(
    models: ModelsAndFiles,
    suite: SuiteName = None,
    task: TaskNames = None,
    by: ItemsBy = "dataset",
    where: Where = "",
    aggregate: OnlyAggregate = None,
    metric: ShownMetric = "spearman",
    setting: ClassifierSetting = "literature",
    common_pairs: CommonPairs = False,
    again: Again = False,
    rows: RowsAs = "slices",
    signature: Signed = False,
    mteb: MtebFolder = None,
    submission: SubmissionFolder = None,
    figure: FigureNames = None,
    *,
    terminal: Terminal,
) -> None:
    """Evaluate MODELs: correlations with human scores of pairs (sts), accuracies of linear classifiers (transfer, probing) …, x 100.

    A FILE among them is your own: of scored or labelled pairs the correlation, of anchors and positives MRR and recall.

    Aggregations: `all` correlates a dataset's pairs at once, `mean` averages its sources, `wmean` weights them by pairs. Dice fifths
    are cut within each dataset. A run with several seeds shows mean ± standard deviation. Everything
    measured is stored in the run's folder, or in the cache.
    """
    from embedlab.reports.figure_subjects import EvaluatedModels
    from embedlab.workflows.evaluate import EvaluateOptions, evaluation_report
    from embedlab.workflows.own_files import models_and_files

    models, files = models_and_files(models, bool(task or suite), terminal.settings)
    options = EvaluateOptions(
        models=models,
        suite=suite,
        tasks=task or files,
        by=by,
        where=where,
        aggregate=aggregate,
        metric=metric,
        setting=setting,
        again=again,
        common=common_pairs,
        mteb=mteb,
        submission=submission,
        rows=rows,
    )
    figures = check_figures(figure, EvaluatedModels)
    report = evaluation_report(options, terminal)
    show_report(report, terminal, is_signed=signature)
    write_figures(figures, report.figure_subject(), terminal)
    end(report)
