"""The options of the commands that evaluate and compare models."""

from typing import Annotated

import typer

from embedlab.choices import Aggregate, SettingName, TableRows, Test
from embedlab.cli import completion
from embedlab.cli.generated_options import as_typer
from embedlab.workflows.options import BY, COMMON, ROWS, SETTING, TASKS, WHERE

TaskNames = Annotated[list[str] | None, as_typer(TASKS)]
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
ItemsBy = Annotated[str, as_typer(BY)]
Where = Annotated[str, as_typer(WHERE)]
SourcesAs = Annotated[Aggregate, typer.Option("--aggregate", help="How a dataset's sources become one number.")]
ClassifierSetting = Annotated[SettingName, as_typer(SETTING)]
PairedTest = Annotated[Test, typer.Option("--test", help="The test behind p; all but dyadic are corrected by the design effect.")]
Margin = Annotated[
    float | None,
    typer.Option("--equivalent", metavar="MARGIN", help="Also test whether models are equal within MARGIN points; = marks those."),
]
Published = Annotated[bool, typer.Option("--published", help="Also show what papers print for models of these names.")]
CommonPairs = Annotated[bool, as_typer(COMMON)]
RowsAs = Annotated[TableRows, as_typer(ROWS)]
