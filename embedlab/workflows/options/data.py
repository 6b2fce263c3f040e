"""What a user can select of datasets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from embedlab.workflows.options.flag import Flag


@dataclass(frozen=True, kw_only=True)
class DatasetsOptions:
    """Datasets, or all of them."""

    names: Annotated[
        Sequence[str], Flag(metavar="[DATASET]...", help="All when absent.", completes="datasets")
    ] = ()


@dataclass(frozen=True, kw_only=True)
class ItemsOptions:
    """Datasets of classified items."""

    names: Annotated[
        Sequence[str],
        Flag(
            metavar="DATASET...",
            help="Datasets of transfer, probing, glue or multitask.",
            completes="datasets",
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class OverlapsOptions:
    """A training set, and the evaluation sets that may share text with it."""

    training: Annotated[
        str, Flag(metavar="TRAINING", help="A dataset, or dataset:split.", completes="datasets")
    ]
    evaluations: Annotated[
        Sequence[str],
        Flag(metavar="EVALUATION...", help="Datasets, or dataset:split.", completes="datasets"),
    ]


@dataclass(frozen=True, kw_only=True)
class SelectionsOptions:
    """Names of selections that are taken away."""

    remove: Annotated[
        Sequence[str],
        Flag(names=("--remove",), metavar="NAME", help="Take this name away; again for more."),
    ] = ()
