"""`embedlab train`: a recipe becomes one run a seed."""

from dataclasses import dataclass, replace
from typing import Annotated

import typer

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.reporting import end, show_report
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.flag import Flag
from embedlab.workflows.options.train import TrainOptions

EXAMPLES = examples(
    "embedlab train pairs.csv --encoder ENCODER --dev dev.csv --name mine",
    "embedlab train snli-supcl --data DIR --seeds 3",
    "embedlab train snli-ce --set optim.lr=1e-5 --name snli-ce-slow --resume",
    "embedlab train own-pairs --set data.files=faq.csv --set data.columns.anchor=question "
    "--set data.columns.positive=answer",
)


@dataclass(frozen=True, kw_only=True)
class StartOptions:
    """Whether the training begins here."""

    dry_run: Annotated[
        bool,
        Flag(
            names=("--dry-run",),
            help="Print the resolved recipe and one example in words; train nothing.",
        ),
    ] = False
    detach: Annotated[
        bool,
        Flag(
            names=("--detach",),
            is_expert=True,
            help="Train in a process that outlives this terminal.",
        ),
    ] = False
    cluster: Annotated[
        str | None,
        Flag(
            names=("--cluster",),
            is_expert=True,
            metavar="ADDRESS",
            help="Train as jobs of Slurm: slurm[:KEY=VALUE,...].",
        ),
    ] = None


@common("data", "runs", "machine", "output")
@takes
def train(options: TrainOptions, shown: StartOptions, *, terminal: Terminal) -> None:
    """Train RECIPE and score the model on the recipe's tasks, or train on the rows of FILE.

    Of a FILE the columns, the kind of rows and the scale of scores are detected and shown;
    'FILE?score=NAME' corrects them. Without --dev a part of its rows is held out for the dev score,
    whole topics that share no sentence with the others.

    Ctrl-C saves a checkpoint and stops, a second one stops at once; `--resume` continues from the
    checkpoint. A job that may be restarted can always pass `--resume`: it starts the run, continues
    it, evaluates it, or says that it is finished.
    """
    if shown.dry_run:
        from embedlab.workflows.train.preview import preview

        train_preview = preview(options, terminal.settings)
        return (
            terminal.write_json(train_preview.to_json())
            if terminal.settings.format == "json"
            else terminal.write(train_preview.to_text())
        )
    return _train(options, terminal, shown)


def _train(options: TrainOptions, terminal: Terminal, start: StartOptions) -> None:
    from embedlab.workflows.train.plan import plan_training

    plan = plan_training(options, terminal.settings)
    from embedlab.workflows.train import run

    elsewhere = start.cluster is not None
    here = replace(plan, options=replace(options, gpus=None)) if elsewhere else plan
    run.check_training(here, terminal)
    if plan.todo and start.cluster is not None:
        run.submit_training(plan, start.cluster, terminal)
    elif plan.todo and start.detach:
        run.start_detached_training(plan, terminal)
    elif plan.todo and (options.gpus or 1) > 1:
        if code := run.train_together(plan, terminal.settings):
            raise typer.Exit(code)  # the processes have reported why
    elif (evaluated := run.train_plan(plan, terminal).evaluated) is not None:
        show_report(evaluated, terminal)
        end(evaluated)
