"""What a user can select of a training."""

from dataclasses import dataclass
from typing import Annotated

from embedlab.choices import Tracker
from embedlab.workflows.options.flag import Flag
from embedlab.workflows.options.trainings import (
    encoder_flag,
    override_flag,
    profile_flag,
    profile_override,
    seeds_flag,
)


def _seeds_to(last: int) -> tuple[int, ...]:
    return tuple(range(1, last + 1))


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """What a user selects of a training."""

    recipe: Annotated[
        str,
        Flag(
            metavar="RECIPE|FILE",
            help="A name from `embedlab recipes`, a TOML file, or your own rows in a .csv, .tsv, "
            ".jsonl, .parquet or .txt file.",
            completes="recipes",
        ),
    ]
    overrides: Annotated[tuple[str, ...], override_flag("the recipe")] = ()
    profile: Annotated[str | None, profile_flag("the recipe")] = None  # None: paper
    seed: Annotated[
        int | None,
        Flag(
            names=("--seed",),
            metavar="S",
            help="Train one seed, the number S. [default: 1]",
            min=0,
            max=2**63 - 1,
        ),
    ] = None
    seeds: Annotated[
        tuple[int, ...],
        seeds_flag(
            "Train N seeds, the numbers 1 to N, a run each.", typed=int | None, reads=_seeds_to
        ),
    ] = ()
    epochs: Annotated[
        int | None,
        Flag(
            names=("--epochs",),
            metavar="N",
            help="Passes over the data: short for --set optim.epochs=N.",
            min=1,
            after="seeds",
        ),
    ] = None
    lr: Annotated[
        float | None,
        Flag(
            names=("--lr",),
            metavar="RATE",
            help="Learning rate: short for --set optim.lr=RATE.",
            after="epochs",
        ),
    ] = None
    batch_size: Annotated[
        int | None,
        Flag(
            names=("--batch-size",),
            metavar="N",
            help="Rows a step: short for --set optim.batch_size=N.",
            min=1,
            after="lr",
        ),
    ] = None
    max_steps: Annotated[
        int | None,
        Flag(
            names=("--max-steps",),
            metavar="N",
            help="A training of N steps: stages in their order until N is reached, warm-up and "
            "schedule over the steps that a stage "
            "then has. Its scores are marked as shortened.",
            min=1,
        ),
    ] = None
    name: Annotated[
        str | None, Flag(names=("--name",), help="Name of the run. [default: the recipe's]")
    ] = None
    # None: the recipe's, or that of `--data tiny`
    encoder: Annotated[str | None, encoder_flag("Start")] = None
    dev: Annotated[
        str | None,
        Flag(
            names=("--dev",),
            metavar="FILE",
            help="Your own file, or a dataset, whose score is followed while training.",
        ),
    ] = None  # None: the recipe's, or a part of the user's own rows
    resume: Annotated[
        bool,
        Flag(
            names=("--resume",),
            help="Go on with the newest unfinished run of this name; start it where there is none.",
        ),
    ] = False
    gpus: Annotated[
        int | None,
        Flag(
            names=("--gpus",),
            is_expert=True,
            metavar="N",
            help="Train with N GPUs: the same loss and gradient.",
            min=1,
        ),
    ] = None
    keeps_checkpoints: Annotated[
        bool,
        Flag(
            names=("--keep-checkpoints",),
            is_expert=True,
            help="Keep the checkpoints of the finished run.",
        ),
    ] = False
    track: Annotated[
        Tracker | None,
        Flag(names=("--track",), is_expert=True, help="Also log to an experiment tracker."),
    ] = None

    @property
    def all_overrides(self) -> tuple[str, ...]:
        """What is set in the recipe, with its profile and the length that `max_steps` gives the
        training.
        """
        short = {
            "optim.epochs": self.epochs,
            "optim.lr": self.lr,
            "optim.batch_size": self.batch_size,
            "max_steps": self.max_steps,
        }
        set_by_short = [f"{key}={value}" for key, value in short.items() if value is not None]
        return (*profile_override(self.profile), *self.overrides, *set_by_short)

    @property
    def planned_seeds(self) -> tuple[int, ...]:
        """The seeds to train with."""
        return self.seeds or (self.seed if self.seed is not None else 1,)

    @property
    def names_seeds(self) -> bool:
        """Whether the seeds were given, and not left to what is there already."""
        return self.seed is not None or bool(self.seeds)
