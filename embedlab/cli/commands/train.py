"""`embedlab train`: a recipe becomes one run a seed."""

from typing import TYPE_CHECKING, Annotated

import typer

from embedlab.choices import Tracker
from embedlab.cli.options import common, examples
from embedlab.cli.reporting import end, show_report
from embedlab.cli.terminal import Terminal
from embedlab.cli.training_options import LENGTH, Dev, Encoder, Option, RecipeName, Resume, Seed

if TYPE_CHECKING:
    from embedlab.workflows.train.plan import TrainOptions

EXAMPLES = examples(
    "embedlab train pairs.csv --encoder ENCODER --dev dev.csv --name mine",
    "embedlab train snli-supcl --data DIR --seeds 3",
    "embedlab train snli-ce --set optim.lr=1e-5 --name snli-ce-slow --resume",
    "embedlab train own-pairs --set data.files=faq.csv --set data.columns.anchor=question --set data.columns.positive=answer",
)


@common("data", "runs", "machine", "output")
def train(
    recipe: RecipeName,
    set_: Annotated[list[str] | None, Option("--set", metavar="KEY=VALUE", help="Another value for a key of the recipe.")] = None,
    seed: Seed = None,
    seeds: Annotated[int | None, Option("--seeds", metavar="N", min=1, max=10_000, help="Train with each of the seeds 1 to N.")] = None,
    max_steps: Annotated[int | None, Option("--max-steps", metavar="N", min=1, help=LENGTH)] = None,
    name: Annotated[str | None, Option("--name", help="Name of the run. [default: the recipe's]")] = None,
    encoder: Encoder = None,
    dev: Dev = None,
    resume: Resume = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Print the resolved recipe and one example in words; train nothing.")] = False,
    detach: Annotated[bool, Option("--detach", help="Train in a process that outlives this terminal.")] = False,
    gpus: Annotated[int | None, Option("--gpus", metavar="N", min=1, help="Train with N GPUs: the same loss and gradient.")] = None,
    keep_checkpoints: Annotated[bool, Option("--keep-checkpoints", help="Keep the checkpoints of the finished run.")] = False,
    track: Annotated[Tracker | None, Option("--track", help="Also log to an experiment tracker.")] = None,
    *,
    terminal: Terminal,
) -> None:
    """Train RECIPE and score the model on the recipe's tasks, or train on the rows of FILE.

    Of a FILE the columns, the kind of rows and the scale of scores are detected and shown; 'FILE?score=NAME' corrects them. Without
    --dev a part of its rows is held out for the dev score, whole topics that share no sentence with the others.

    Ctrl-C saves a checkpoint and stops, a second one stops at once; `--resume` continues from the checkpoint. A job that may be
    restarted can always pass `--resume`: it starts the run, continues it, evaluates it, or says that it is finished.
    """
    from embedlab.workflows.train.plan import TrainOptions

    options = TrainOptions(
        recipe=recipe,
        overrides=tuple(set_ or ()),
        seed=seed,
        seeds=tuple(range(1, (seeds or 0) + 1)),
        max_steps=max_steps,
        name=name,
        encoder=encoder,
        dev=dev,
        resume=resume,
        gpus=gpus,
        track=track,
        keeps_checkpoints=keep_checkpoints,
    )
    if dry_run:
        from embedlab.workflows.train.preview import preview

        found = preview(options, terminal.settings)
        return terminal.write_json(found.to_json()) if terminal.settings.format == "json" else terminal.write(found.to_text())
    return _train(options, terminal, is_detached=detach)


def _train(options: "TrainOptions", terminal: Terminal, *, is_detached: bool) -> None:
    from embedlab.workflows.train.plan import plan_training

    plan = plan_training(options, terminal.settings)
    from embedlab.workflows.train import run

    run.check_training(plan, terminal)
    if plan.todo and is_detached:
        run.start_detached_training(plan, terminal)
    elif plan.todo and (options.gpus or 1) > 1:
        if code := run.train_together(plan, terminal.settings):
            raise typer.Exit(code)  # the processes have reported why
    elif (found := run.train_plan(plan, terminal).evaluated) is not None:
        show_report(found, terminal)
        end(found)
