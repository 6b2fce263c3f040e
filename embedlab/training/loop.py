"""The training loop: the steps of one block of stages, from the current step to its end."""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean

import torch
from accelerate import Accelerator
from torch import Tensor, nn

from embedlab.core.disk import FullDiskError
from embedlab.core.errors import EmbedlabError, Hint, Interrupted, RecipeValue
from embedlab.core.interrupts import StopRequest
from embedlab.core.recipe import EvaluateSection
from embedlab.encoders.device import random_tensors
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.objectives.objective import Objective, TrainedEncoder, saved_tensors
from embedlab.runs import events
from embedlab.training.batching import Batch, Collation
from embedlab.training.blocks import StageBlock, Turn, rate_factor
from embedlab.training.capture import CapturedPasses
from embedlab.training.checkpointing import (
    Best,
    Checkpoints,
    Snapshot,
    optimizer_tensors,
    restore_optimizer,
)
from embedlab.training.gradients import LossScale, WordGradient
from embedlab.training.learner import Learner, backward, joint_backward
from embedlab.training.meter import Meter, SpreadMeter, Unreported, sample_sentences
from embedlab.training.order import task_orders
from embedlab.training.parallel import Team

DevScore = Callable[[TrainedEncoder], float]

CHECKPOINT_S = 60.0  # minimum between two checkpoints
# maximum share of time for checkpoints: a large encoder takes seconds to write
CHECKPOINT_SHARE = 0.03


@dataclass(kw_only=True)
class TrainingSession:
    """The state of one run in this process: what all its stages share, and its progress."""

    encoder: TransformerEncoder
    objectives: list[Objective]  # one a stage
    accelerator: Accelerator  # whose trackers get the numbers
    scale: LossScale
    checkpoints: Checkpoints
    stop: StopRequest
    emit: Callable[[events.Event], None]
    evaluate: EvaluateSection
    dev_score: DevScore | None
    steps: int  # of all stages
    team: Team = field(default_factory=Team)
    captured: CapturedPasses | None = None  # where passes run as CUDA graphs
    cache: Path | None = None  # folder of what other runs can reuse
    step: int = 0  # done, over all stages
    best: Best | None = None  # of the last block, where the recipe keeps the best model
    unreported: Unreported | None = None  # losses in the current checkpoint
    checkpoint_s: float = 0.0  # duration of the last checkpoint
    saved_at: float = 0.0  # time of its completion

    def note(self, text: str) -> None:
        """Emit a remark on the run."""
        self.emit(events.Noted(text=text))

    @property
    def heads(self) -> dict[str, Tensor]:
        """Return what is saved of the objectives, named "<stage>.<tensor>"."""
        return saved_tensors(self.objectives)


def train_block(
    session: TrainingSession,
    block: StageBlock,
    collations: Sequence[Collation],
    optimizer_state: dict[str, Tensor] | None,
) -> None:
    """Take the remaining steps of a block; COLLATIONS are those of its stages.

    OPTIMIZER_STATE comes from the checkpoint at the session's step, if that lies within this block.
    The block ends with a checkpoint. A stop request saves one and raises Interrupted; a loss that
    is not a finite number raises an EmbedlabError, and the last checkpoint remains.
    """
    device = session.encoder.machine.device
    stepper = _Stepper(session, block)
    if optimizer_state is not None:
        restore_optimizer(stepper.optimizer, stepper.parameters, optimizer_state)
    due_steps = (
        block.dev_steps(session.evaluate.every) if session.dev_score is not None else frozenset()
    )
    measured_steps = block.measured_steps(due_steps or block.dev_steps(session.evaluate.every))
    samples = {
        collation.data.index: sample_sentences(collation.tokens)
        for collation in collations
        if collation.vectors is None
    }
    spread = SpreadMeter(session.encoder, samples, is_beginning=session.step == block.first)
    batches = [
        collation.batches(steps_taken)
        for collation, steps_taken in zip(
            collations, block.batches_taken(session.step - block.first), strict=True
        )
    ]
    meter = Meter(device, done=session.step, steps=session.steps, before=session.unreported)
    session.saved_at = time.perf_counter()

    for step in range(session.step - block.first, block.steps):
        turns = block.turns(step)
        read_batches = [
            [part.to(device) for part in next(batches[turn.stage_index])] for turn in turns
        ]
        rows = sum(part.rows for parts in read_batches for part in parts)
        meter.add(stepper.take(step, turns[0], read_batches), rows)
        session.step += 1

        finished = step + 1
        is_last = finished == block.steps
        if (
            is_last
            or finished in due_steps
            or session.step == 1
            or session.step % session.evaluate.log_every == 0
            or block.turns(finished)[0].stage_index != turns[0].stage_index
            or (device.type == "cpu" and not meter.is_finite)
        ):
            epochs = {}
            for turn in turns:
                data = block.stages[turn.stage_index]
                epochs[data.index] = data.passes * (turn.number + 1) / data.steps
            _emit_steps(
                session,
                block,
                meter.read(epochs, step=session.step, lr=stepper.lr, skipped=session.scale.skipped),
            )
        elif meter.is_beat_due():
            session.emit(meter.beat(session.step))
        agreed = session.team.agree(session.stop.signal, is_time=_is_checkpoint_due(session))
        pause_start = time.perf_counter()
        if finished in due_steps:
            _evaluate(session, block)
        if finished in measured_steps:
            for event in spread.measure(session.objectives, read_batches, step=session.step):
                session.emit(event)
                session.accelerator.log(
                    {"mean_cosine": event.mean_cosine, "chance": event.chance}, step=session.step
                )
        if agreed.is_checkpoint_due or is_last:
            _checkpoint(session, block, stepper, meter.unreported())
        meter.pause(time.perf_counter() - pause_start)
        if agreed.stop is not None and session.step < session.steps:
            is_saved = session.step in session.checkpoints.steps()
            raise Interrupted(
                f"stopped by {agreed.stop.name} after step {session.step} of {session.steps}; "
                f"{'a checkpoint is saved' if is_saved else 'the disk has no room for a checkpoint'}",
                hint="the same command with --resume goes on from the newest checkpoint",
            )


class _Stepper:
    """The model and the optimizer of a block."""

    def __init__(self, session: TrainingSession, block: StageBlock) -> None:
        self._scale, self._block, self._team = session.scale, block, session.team
        objectives = {data.index: session.objectives[data.index] for data in block.stages}
        learner = Learner(session.encoder, objectives, session.team, session.captured)
        # Not prepared by accelerate: it would average the gradients of several processes, which are
        # summed here, and a forward pass that it wraps keeps a reference to the model beyond the
        # end of the run.
        self._learner = learner.to(session.encoder.machine.device).train()
        self._cached = {
            data.index for data in block.stages if data.stage.optim.micro_batch is not None
        }
        self.parameters = {
            name: parameter
            for name, parameter in self._learner.named_parameters()
            if parameter.requires_grad
        }
        self.optimizer = adamw(self.parameters)
        self.lr = 0.0  # of the last step
        embedding = session.encoder.backbone.get_input_embeddings()
        is_apart = session.encoder.machine.device.type == "cpu" and self._teaches_whole(
            objectives.values()
        )
        self._words = (
            WordGradient(embedding)
            if is_apart and isinstance(embedding, nn.Embedding) and embedding.weight.requires_grad
            else None
        )

    def _teaches_whole(self, objectives: Iterable[Objective]) -> bool:
        """Return whether one process trains the whole encoder at every step, with one gradient."""
        has_one_gradient = self._team.size == 1 and self._block.combine not in {
            "surgery",
            "surgery-sum",
        }
        return has_one_gradient and all(objective.frozen == "nothing" for objective in objectives)

    def take(self, step: int, turn: Turn, read_batches: Sequence[Sequence[Batch]]) -> Tensor:
        """Take a step of the block with the settings of its first TURN; return the loss of each
        of READ_BATCHES, which come in parts.
        """
        data, optim = (
            self._block.stages[turn.stage_index],
            self._block.stages[turn.stage_index].stage.optim,
        )
        self.lr = optim.lr * rate_factor(
            turn.number,
            data.steps,
            warmup=optim.warmup,
            schedule=optim.schedule,
            warmup_steps=optim.warmup_steps,
        )
        for group in self.optimizer.param_groups:
            group["lr"] = self.lr
            group["weight_decay"] = optim.weight_decay if group["decays"] else 0.0
        with nullcontext() if self._words is None else self._words.add_up():
            losses = joint_backward(
                [
                    partial(
                        backward,
                        self._learner,
                        parts,
                        self._scale,
                        is_cached=parts[0].stage in self._cached,
                    )
                    for parts in read_batches
                ],
                list(self.parameters.values()),
                self._block.combine,
                partial(task_orders, data.seed, data.index, step, len(read_batches)),
                partial(self._team.add_gradients, self._learner.encoder, self._learner.objectives),
            )
        self._scale.step(self.optimizer, self.parameters.values(), optim.clip)
        self.optimizer.zero_grad()
        return losses


def adamw(parameters: dict[str, nn.Parameter]) -> torch.optim.Optimizer:
    """Return AdamW over PARAMETERS; biases and LayerNorm scales (all vectors) have no weight decay,
    as in BERT's own training.
    """
    groups = [
        {
            "params": [each for each in parameters.values() if (each.ndim >= 2) == decays],
            "decays": decays,
        }
        for decays in (True, False)
    ]
    return torch.optim.AdamW(groups, fused=True)


def _emit_steps(session: TrainingSession, block: StageBlock, steps: Sequence[events.Step]) -> None:
    """Emit the event of each stage that a step was taken for."""
    for event in steps:
        if not math.isfinite(event.loss):
            raise _divergence_error(session, block, event.stage, event.lr, event.loss)
        session.emit(event)
    first_step = steps[0]
    losses = {f"loss/{event.stage}": event.loss for event in steps} if len(steps) > 1 else {}
    values = {
        "loss": fmean(event.loss for event in steps),
        "lr": first_step.lr,
        "rows_per_s": first_step.rows_per_s,
        "epoch": first_step.epoch,
    }
    session.accelerator.log({**values, **losses}, step=first_step.step)


def _evaluate(session: TrainingSession, block: StageBlock) -> None:
    assert session.dev_score is not None
    score = session.dev_score(
        TrainedEncoder(encoder=session.encoder, objectives=session.objectives)
    )
    session.emit(events.Dev(step=session.step, score=score))
    session.accelerator.log({"dev": score}, step=session.step)
    # The model is the best of the last block. A score that is not a number, for example of
    # identical vectors, is never the best.
    is_compared = (
        session.evaluate.keep == "best" and block.end == session.steps and math.isfinite(score)
    )
    if is_compared and (session.best is None or score > session.best.score):
        best = Best(score=score, step=session.step)
        try:
            _store_best(session, best)
            session.best = best
        except FullDiskError as error:
            session.note(f"step {session.step} cannot become the model: {error.message}")


def _store_best(session: TrainingSession, best: Best) -> None:
    """Let the leader write the weights of the best model; those of the last step are in its
    checkpoint.
    """
    if session.team.is_leader and session.step < session.steps:
        model = Snapshot(
            step=best.step,
            best=best,
            encoder=session.encoder.tensors(),
            heads=session.heads,
            frozen_weights=session.encoder.frozen_weights,
        )
        session.checkpoints.save_best(model)


def _is_checkpoint_due(session: TrainingSession) -> bool:
    waited = time.perf_counter() - session.saved_at
    return waited >= max(CHECKPOINT_S, session.checkpoint_s / CHECKPOINT_SHARE)


def _checkpoint(
    session: TrainingSession, block: StageBlock, stepper: _Stepper, unreported: Unreported
) -> None:
    began = time.perf_counter()
    if not all(bool(parameter.isfinite().all()) for parameter in stepper.parameters.values()):
        leader = block.stages[block.leader].index
        raise _divergence_error(session, block, leader, stepper.lr, math.nan)
    snapshot = Snapshot(
        step=session.step,
        best=session.best,
        encoder=session.encoder.tensors(),
        heads=session.heads,
        optimizer=optimizer_tensors(stepper.optimizer, stepper.parameters),
        random=session.team.random_states(random_tensors(session.encoder.machine.device)),
        unreported=unreported,
        scale=session.scale.state(),
        frozen_weights=session.encoder.frozen_weights,
    )
    try:
        if session.team.is_leader:
            session.checkpoints.save(snapshot)
        saved: events.Event = events.Checkpoint(step=session.step)
    except FullDiskError as error:  # the model is smaller, and may have room at the end
        saved = events.Noted(text=f"no checkpoint after step {session.step}: {error.message}")
    session.saved_at = time.perf_counter()
    session.checkpoint_s = session.saved_at - began
    session.emit(saved)


def _divergence_error(
    session: TrainingSession, block: StageBlock, stage: int, lr: float, loss: float
) -> EmbedlabError:
    saved = session.checkpoints.steps()
    checkpoint_note = (
        f"the checkpoint of step {saved[-1]} is stored"
        if saved
        else "no checkpoint was saved before it"
    )
    rate = next(data.stage.optim.lr for data in block.stages if data.index == stage)
    section = "optim" if len(session.objectives) == 1 else f"stage.{stage}.optim"
    if block.batches_a_step > 1:  # they have one rate
        section = "stages.optim"
    return EmbedlabError(
        f"training diverged at step {session.step}: the loss is {loss} at learning rate "
        f"{lr:.3g}; {checkpoint_note}",
        hint=Hint(
            "use a lower rate, for example ",
            RecipeValue(f"{section}.lr", f"{rate / 4:.1g}"),
            ", or clip gradients: ",
            RecipeValue(f"{section}.clip", "1.0"),
        ),
    )
