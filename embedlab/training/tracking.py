"""accelerate's Accelerator, set up for a machine and, if requested, with an experiment tracker."""

import importlib.util

from accelerate import Accelerator

from embedlab.choices import Tracker
from embedlab.core.errors import MissingError
from embedlab.core.recipe import Recipe, flatten, recipe_to_table
from embedlab.encoders.device import Machine
from embedlab.runs.store import RunFolder


def require_tracker(track: Tracker | None) -> None:
    """Refuse a tracker whose package is not installed."""
    if track is not None and importlib.util.find_spec(track) is None:
        raise MissingError(f"the tracker {track!r} is not installed", hint=f"pip install {track}")


def accelerator(
    machine: Machine, run: RunFolder, recipe: Recipe, track: Tracker | None
) -> Accelerator:
    """Return the accelerator of RUN; its tracker writes into a folder there, or where the tracker's
    own settings say.
    """
    folder = run.path / "tracking"
    made = Accelerator(
        cpu=machine.device.type == "cpu",
        mixed_precision="no",  # the learner computes in its machine's precision
        log_with=track,
        project_dir=str(folder),
    )
    if track is not None:
        folder.mkdir(parents=True, exist_ok=True)
        made.init_trackers(
            run.name,
            config={
                "seed": run.seed,
                **{
                    key: value if isinstance(value, bool | int | float | str) else str(value)
                    for key, value in flatten(recipe_to_table(recipe)).items()
                },
            },
        )
    return made
