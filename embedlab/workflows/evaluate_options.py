"""What a user can select of an evaluation: the command line, the Python function and the workflow have these options from here."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from embedlab.choices import Aggregate, Correlation, SettingName, TableRows
from embedlab.workflows.options import BY, COMMON, ROWS, SETTING, TASKS, WHERE, Flag


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """What is evaluated, and which of its numbers are shown."""

    models: Sequence[str]
    suite: Annotated[
        str | None,
        Flag(
            names=("--suite",),
            metavar="TASK",
            help="What to evaluate: a task, mteb:BENCHMARK, or all. [default: sts]",
            completes="tasks",
        ),
    ] = None
    tasks: Annotated[Sequence[str], TASKS] = ()
    by: Annotated[str, BY] = "dataset"
    where: Annotated[str, WHERE] = ""
    aggregate: Annotated[Aggregate | None, Flag(names=("--aggregate",), help="Only this aggregation of a dataset's sources.")] = None
    metric: Annotated[Correlation, Flag(names=("--metric",), help="The correlation to show.")] = "spearman"
    setting: Annotated[SettingName, SETTING] = "literature"
    common: Annotated[bool, COMMON] = False
    again: Annotated[bool, Flag(names=("--again",), help="Evaluate also what was evaluated before on the same data.")] = False
    mteb: Annotated[
        Path | None,
        Flag(names=("--mteb",), metavar="DIR", help="Also write the STS results into DIR/MODEL as files that mteb reads."),
    ] = None
    submission: Annotated[
        Path | None,
        Flag(names=("--submission",), metavar="DIR", help="Also write predictions of GLUE's test splits into DIR, for its server."),
    ] = None
    rows: Annotated[TableRows, ROWS] = "slices"
