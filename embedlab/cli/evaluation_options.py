"""The options of the commands that evaluate and compare models."""

from pathlib import Path
from typing import Annotated

import typer

from embedlab.choices import Aggregate, Correlation, SettingName, TableRows, Test
from embedlab.cli import completion

TaskNames = Annotated[
    list[str] | None,
    typer.Option(
        "--task",
        "--dataset",
        metavar="NAME",
        help="Only this dataset, your own file of pairs, hub:OWNER/NAME, mteb:NAME, probing files (gum-probing, probing:DIR) or a task.",
        autocompletion=completion.datasets,
    ),
]
SuiteName = Annotated[
    str | None,
    typer.Option(
        "--suite", metavar="TASK", help="What to evaluate: a task, mteb:BENCHMARK, or all. [default: sts]", autocompletion=completion.tasks
    ),
]
SuiteNames = Annotated[
    list[str] | None,
    typer.Option(
        "--suite",
        metavar="TASK",
        help="What to compare on: a task, mteb:BENCHMARK, or all; again for more. [sts]",
        autocompletion=completion.tasks,
    ),
]
PairDatasets = Annotated[
    list[str] | None,
    typer.Option(
        "--task",
        "--dataset",
        metavar="NAME",
        help="Only this dataset, your own file, or hub:OWNER/NAME.",
        autocompletion=completion.datasets,
    ),
]
ItemsBy = Annotated[
    str,
    typer.Option(
        "--by",
        metavar="PROPERTY",
        help="Group items by dataset, source, dice, words, negation or another property (a wrong name lists them), numbers by fifths; "
        "or by an expression such as 'dice>0.5': what fits, and the rest.",
        autocompletion=completion.properties,
    ),
]
Where = Annotated[
    str,
    typer.Option("--where", metavar="EXPRESSION", help="Only items that fit, such as 'negation:one dice>0.5'; see `embedlab pairs`."),
]
SourcesAs = Annotated[Aggregate, typer.Option("--aggregate", help="How a dataset's sources become one number.")]
OnlyAggregate = Annotated[Aggregate | None, typer.Option("--aggregate", help="Only this aggregation of a dataset's sources.")]
ShownMetric = Annotated[Correlation, typer.Option("--metric", help="The correlation to show.")]
ClassifierSetting = Annotated[SettingName, typer.Option("--setting", help="How transfer and probing train their classifiers.")]
PairedTest = Annotated[Test, typer.Option("--test", help="The test behind p; all but dyadic are corrected by the design effect.")]
Margin = Annotated[
    float | None,
    typer.Option("--equivalent", metavar="MARGIN", help="Also test whether models are equal within MARGIN points; = marks those."),
]
Published = Annotated[bool, typer.Option("--published", help="Also show what papers print for models of these names.")]
CommonPairs = Annotated[
    bool,
    typer.Option("--common", help="Take the pairs that all models score, where a brought file lacks some; titles count them."),
]
RowsAs = Annotated[
    TableRows, typer.Option("--rows", help="One row a slice, or one row a model: no differences, and narrow enough for most papers.")
]
Again = Annotated[bool, typer.Option("--again", help="Evaluate also what was evaluated before on the same data.")]
MtebFolder = Annotated[
    Path | None, typer.Option("--mteb", metavar="DIR", help="Also write the STS results into DIR/MODEL as files that mteb reads.")
]
SubmissionFolder = Annotated[
    Path | None,
    typer.Option("--submission", metavar="DIR", help="Also write predictions of GLUE's test splits into DIR, for its server."),
]
