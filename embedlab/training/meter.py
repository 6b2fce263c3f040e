"""Loss, speed, time left and memory since the last event, and whether vectors still differ: of a
collapsed encoder all are nearly the same.

A loss alone does not show a collapse, as its value at chance is not known. Both are measured now
and then: the mean cosine of a few of the stage's own sentences, without dropout, and the loss of a
batch whose vectors are all the same.
"""

import importlib.util
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import psutil
import torch
from accelerate import Accelerator
from torch import Tensor

from embedlab.choices import Tracker
from embedlab.core.errors import MissingError
from embedlab.core.recipe import Recipe, flatten, recipe_to_table
from embedlab.encoders.device import Machine
from embedlab.encoders.encoder import mean_cosine
from embedlab.encoders.tokens import TokenRows, gather_rows
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.objectives.objective import Objective
from embedlab.runs import events
from embedlab.runs.store import RunFolder
from embedlab.training.batching import Batch

HEARTBEAT_S = 2.0  # without an event, until a progress event is due


@dataclass(frozen=True, kw_only=True)
class Unreported:
    """The losses that no event has reported yet; a checkpoint stores them for the process that
    continues.
    """

    losses: tuple[float, ...] = (0.0,)  # the sum of each task's
    steps: int = 0


class Meter:
    """Accumulates the losses of steps without waiting for the accelerator; only an event or a
    checkpoint reads them.
    """

    _losses: Tensor  # the sum of each task's

    def __init__(
        self, device: torch.device, *, done: int, steps: int, before: Unreported | None = None
    ) -> None:
        self._device = device
        self._start_s, self._start_step = time.perf_counter(), done
        self._paused_s = 0.0
        self._steps = steps
        self._process = psutil.Process()
        self._process.cpu_percent()  # the next call measures from here
        self._clear(before or Unreported())

    def add(self, losses: Tensor, rows: int) -> None:
        """Count a step with the loss of each batch it read."""
        self._losses = self._losses + losses.detach()
        self._rows += rows
        self._count += 1

    def pause(self, seconds: float) -> None:
        """Exclude the time of an evaluation or a checkpoint from the speed."""
        self._paused_s += seconds
        self._since_s += seconds

    def is_beat_due(self) -> bool:
        """Return whether there was no event for so long that a progress event is due."""
        return time.perf_counter() - self._beat_s >= HEARTBEAT_S

    def beat(self, step: int) -> events.Progress:
        """Return a progress event after STEP, without waiting for the accelerator."""
        self._beat_s = time.perf_counter()
        return events.Progress(
            step=step, steps=self._steps, eta_s=self._eta_s(step), **self._machine_load()
        )

    def unreported(self) -> Unreported:
        """Return the losses since the last event."""
        return Unreported(losses=tuple(self._losses.tolist()), steps=self._count)

    def read(
        self, epochs: Mapping[int, float], *, step: int, lr: float, skipped: int = 0
    ) -> list[events.Step]:
        """Return the events of the steps since the last ones, one a stage; EPOCHS are by stage
        index, SKIPPED is of all steps so far.
        """
        losses = (
            self._losses / self._count
        ).tolist()  # waits for the accelerator, so that the times below are correct
        elapsed = max(1e-9, time.perf_counter() - self._since_s)
        load = self._machine_load()
        steps = [
            events.Step(
                stage=stage,
                epoch=epoch,
                step=step,
                steps=self._steps,
                loss=loss,
                lr=lr,
                rows_per_s=self._rows / elapsed,
                eta_s=self._eta_s(step),
                skipped=skipped,
                **load,
            )
            for (stage, epoch), loss in zip(epochs.items(), losses, strict=True)
        ]
        self._clear(Unreported())
        return steps

    @property
    def is_finite(self) -> bool:
        """Return whether every loss since the last event was finite; on a CPU this costs
        nothing.
        """
        return bool(self._losses.isfinite().all())

    def _clear(self, unreported: Unreported) -> None:
        self._losses = torch.tensor(unreported.losses, device=self._device)
        self._count = unreported.steps
        self._rows = 0
        self._since_s = self._beat_s = time.perf_counter()

    def _eta_s(self, step: int) -> float:
        per_step = (time.perf_counter() - self._start_s - self._paused_s) / max(
            1, step - self._start_step
        )
        return per_step * (self._steps - step)

    def _machine_load(self) -> dict[str, float]:
        """Return the memory and the use of processor and GPU, as events record them."""
        if self._device.type != "cuda":
            memory, gpu_percent = self._process.memory_info().rss, math.nan
        else:
            memory = torch.cuda.max_memory_allocated(self._device)
            try:
                gpu_percent = float(torch.cuda.utilization(self._device))
            except (ModuleNotFoundError, RuntimeError):  # needs nvidia-ml-py and a driver
                gpu_percent = math.nan
        return {
            "memory_mib": memory / 2**20,
            "cpu_percent": self._process.cpu_percent(),
            "gpu_percent": gpu_percent,
        }


# drawn from the stage's: 0.1 points of a mean cosine, and less time than a dev score
SENTENCES = 256


def sample_sentences(tokens: TokenRows) -> TokenRows:
    """Return the tokens of the sentences that are measured, the same in every process and after
    every interruption.
    """
    rows = np.random.default_rng(0).permutation(len(tokens))[:SENTENCES]
    types = (
        None
        if tokens.types is None
        else [tokens.types[tokens.offsets[row] : tokens.offsets[row + 1]] for row in rows]
    )
    ids = [tokens.flat[tokens.offsets[row] : tokens.offsets[row + 1]] for row in rows]
    return gather_rows(ids, tokens.truncated[rows], types)  # type: ignore[arg-type]  # arrays are sequences of numbers


def loss_of_equal_vectors(objective: Objective, batch: Batch, vector: torch.Tensor) -> float:
    """Return the loss of BATCH where all of its sentences, with any view, have the one VECTOR,
    (dim,): what chance gives.
    """
    vectors = vector.expand(batch.sentences * len(objective.views), -1)
    was_training = objective.training
    objective.eval()
    try:
        with torch.inference_mode():
            return float(objective(vectors, batch.columns))
    finally:
        objective.train(was_training)


class SpreadMeter:
    """Measures how far apart the vectors of some sentences of each stage are, now and then while
    they are trained together.
    """

    def __init__(
        self, encoder: TransformerEncoder, samples: Mapping[int, TokenRows], *, is_beginning: bool
    ) -> None:
        self._encoder, self._samples = encoder, samples  # by stage
        self._before = (
            {stage: mean_cosine(encoder.embed_tokens(sample)) for stage, sample in samples.items()}
            if is_beginning
            else {}
        )

    def measure(
        self, objectives: Sequence[Objective], batches: Sequence[Sequence[Batch]], *, step: int
    ) -> Iterator[events.VectorSpread]:
        """Yield the measurement after STEP for each of the BATCHES that were read in it; OBJECTIVES
        are those of all stages.
        """
        for batch, *_ in batches:  # of several parts the first
            if (
                sample := self._samples.get(batch.stage)
            ) is None:  # of a frozen encoder vectors do not change
                continue
            vectors = self._encoder.embed_tokens(sample)
            middle = torch.from_numpy(vectors.mean(axis=0)).to(self._encoder.machine.device)
            yield events.VectorSpread(
                step=step,
                stage=batch.stage,
                mean_cosine=mean_cosine(vectors),
                before=self._before.get(batch.stage, float("nan")),
                chance=loss_of_equal_vectors(objectives[batch.stage], batch, middle),
            )


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
    tracked = Accelerator(
        cpu=machine.device.type == "cpu",
        mixed_precision="no",  # the learner computes in its machine's precision
        log_with=track,
        project_dir=str(folder),
    )
    if track is not None:
        folder.mkdir(parents=True, exist_ok=True)
        tracked.init_trackers(
            run.name,
            config={
                "seed": run.seed,
                **{
                    key: value if isinstance(value, bool | int | float | str) else str(value)
                    for key, value in flatten(recipe_to_table(recipe)).items()
                },
            },
        )
    return tracked
