"""The flags of the fields that commands share which train: each says of what."""

from collections.abc import Callable
from typing import Any

from embedlab.core.overrides import PROFILE
from embedlab.workflows.options.flag import Flag
from embedlab.workflows.options.models import with_aliases


def override_flag(of: str) -> Flag:
    """Return the flag of other values for the keys OF recipes."""
    return Flag(names=("--set",), metavar="KEY=VALUE", help=f"Another value for a key of {of}.")


def encoder_flag(start: str) -> Flag:
    """Return the flag of the encoder from which trainings START."""
    return Flag(
        names=("--encoder",),
        metavar="MODEL",
        help=f"{start} from this encoder.",
        completes="models",
        reads=with_aliases,
    )


def workers_flag(of: str) -> Flag:
    """Return the flag of how many trainings run at once, by what they are called."""
    return Flag(names=("--workers",), metavar="N", help=f"Number of parallel {of}", min=1, max=4096)


def cluster_flag(of: str) -> Flag:
    """Return the flag of where trainings run, by what they are called."""
    return Flag(
        names=("--cluster",),
        is_expert=True,
        metavar="ADDRESS",
        help=f"Run the {of} on this Ray cluster, or as jobs of Slurm: slurm[:KEY=VALUE,...].",
    )


def seeds_flag(help: str, *, typed: Any = None, reads: Callable[[int], Any] | None = None) -> Flag:
    """Return the flag of the seeds 1 to N."""
    return Flag(
        names=("--seeds",), metavar="N", help=help, min=1, max=10_000, typed=typed, reads=reads
    )


def profile_flag(of: str) -> Flag:
    """Return the flag of the profile OF recipes: what a paper says, or what its authors' code
    does.
    """
    return Flag(
        names=("--profile",),
        is_expert=True,
        metavar="NAME",
        help=f"Values of {of}: paper, or code for what its authors' public code does.",
    )


def profile_override(profile: str | None) -> tuple[str, ...]:
    """Return a PROFILE as `--set` takes it; none for that of the recipe's file."""
    return (f"{PROFILE}={profile}",) if profile is not None else ()
