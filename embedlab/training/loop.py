"""The training loop: the steps of one stage, from wherever it stands to its end."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from accelerate import Accelerator
from torch import Tensor, nn

from embedlab.encoders.transformer import TransformerEncoder
from embedlab.errors import EmbedlabError, Interrupted
from embedlab.objectives.objective import Objective
from embedlab.recipe import EvaluateSection, OptimSection
from embedlab.runs import events
from embedlab.training.batching import Batch, Collation
from embedlab.training.checkpointing import Best, Checkpoints, Snapshot, optimizer_tensors, random_tensors, restore_optimizer
from embedlab.training.meter import Meter
from embedlab.training.schedule import dev_steps, rate_factor
from embedlab.training.signals import StopRequest

DevScore = Callable[[TransformerEncoder], float]

CHECKPOINT_S = 60.0  # between two checkpoints, at least
CHECKPOINT_SHARE = 0.03  # of the time goes into checkpoints, at most: a large encoder takes seconds to write


@dataclass(kw_only=True)
class Session:
    """One run in the hands of this process: what all its stages share, and how far it is."""

    encoder: TransformerEncoder
    objectives: list[Objective]  # one a stage
    accelerator: Accelerator
    checkpoints: Checkpoints
    stop: StopRequest
    tell: Callable[[events.Event], None]
    evaluate: EvaluateSection
    dev_score: DevScore | None
    steps: int  # of all stages
    step: int = 0  # done, over all stages
    best: Best | None = None  # of the stage at hand
    checkpoint_s: float = 0.0  # what the last checkpoint cost
    saved_at: float = 0.0  # when it was complete

    @property
    def heads(self) -> nn.ModuleList:
        """The objectives as one module, whose parameters are named "<stage>.<parameter>"."""
        return nn.ModuleList(self.objectives)


class Learner(nn.Module):
    """Encoder and objective as one module: a batch in, its loss out."""

    def __init__(self, encoder: TransformerEncoder, objective: Objective) -> None:
        super().__init__()
        self.encoder = encoder.backbone
        self.objective = objective
        self._embed = encoder.forward_tokens

    def forward(self, batch: Batch) -> Tensor:
        """Encode the batch's distinct sentences, then ask the objective."""
        vectors = torch.cat([self._embed(ids, mask) for ids, mask in batch.chunks])
        # A raw dot product of long vectors, or a temperature of 0.05, asks for more digits than bf16 has.
        with torch.autocast(vectors.device.type, enabled=False):
            loss: Tensor = self.objective(vectors.float(), batch.columns)
        return loss


def train_stage(session: Session, collation: Collation, optimizer_state: dict[str, Tensor] | None = None) -> None:
    """Take the steps of a stage that are not done yet.

    OPTIMIZER_STATE is that of the checkpoint which the session stands at, when it lies within this stage. The stage
    ends with a checkpoint. Asked to stop, it saves one and raises Interrupted; a loss that is no number ends it with
    an EmbedlabError, and the last checkpoint stays.
    """
    data, optim = collation.data, collation.data.stage.optim
    accelerator, device = session.accelerator, session.encoder.machine.device
    learner = accelerator.prepare_model(Learner(session.encoder, collation.objective))
    learner.train()
    parameters = {name: parameter for name, parameter in learner.named_parameters() if parameter.requires_grad}
    inner = adamw(parameters, optim)
    if optimizer_state is not None:
        restore_optimizer(inner, parameters, optimizer_state)
    optimizer = accelerator.prepare_optimizer(inner)

    steps = sum(data.epochs)
    due = dev_steps(data.epochs, optim.epochs, session.evaluate.every) if session.dev_score is not None else frozenset()
    meter = Meter(device, done=session.step, steps=session.steps)
    session.saved_at = time.perf_counter()

    for batch in collation.batches(done=session.step - data.first):
        lr = optim.lr * rate_factor(session.step - data.first, steps, warmup=optim.warmup, schedule=optim.schedule)
        for group in inner.param_groups:
            group["lr"] = lr
        loss = learner(batch.to(device))
        accelerator.backward(loss)
        if optim.clip is not None:
            accelerator.clip_grad_norm_(parameters.values(), optim.clip)
        optimizer.step()
        optimizer.zero_grad()
        session.step += 1
        meter.add(loss, batch.rows)

        done = session.step - data.first
        if done in due or done == steps or meter.is_due() or (device.type == "cpu" and not meter.is_finite):
            event = meter.read(stage=data.index, epoch=optim.epochs * done / steps, step=session.step, lr=lr)
            _tell_step(session, event)
        if done in due or done == steps or session.stop.signal is not None or _is_time(session):
            before = time.perf_counter()
            if done in due:
                _evaluate(session)
            _checkpoint(session, inner, parameters, lr)
            meter.pause(time.perf_counter() - before)
        if session.stop.signal is not None and session.step < session.steps:
            raise Interrupted(
                f"stopped by {session.stop.signal.name} after step {session.step} of {session.steps}; a checkpoint is saved",
                hint="the same command with --resume goes on from there",
            )


def adamw(parameters: dict[str, nn.Parameter], optim: OptimSection) -> torch.optim.Optimizer:
    """AdamW over PARAMETERS; biases and LayerNorm's scales, all that is a vector, are not decayed, as in BERT's own training."""
    groups = [
        {"params": [parameter for parameter in parameters.values() if parameter.ndim >= 2], "weight_decay": optim.weight_decay},
        {"params": [parameter for parameter in parameters.values() if parameter.ndim < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=optim.lr, fused=True)


def _tell_step(session: Session, event: events.Step) -> None:
    if not math.isfinite(event.loss):
        raise _diverged(session, event.lr, event.loss)
    session.tell(event)
    session.accelerator.log({"loss": event.loss, "lr": event.lr, "rows_per_s": event.rows_per_s, "epoch": event.epoch}, step=event.step)


def _evaluate(session: Session) -> None:
    assert session.dev_score is not None
    score = session.dev_score(session.encoder)
    session.tell(events.Dev(step=session.step, score=score))
    session.accelerator.log({"dev": score}, step=session.step)
    # A score that is no number, as of vectors that are all alike, is never the best.
    if math.isfinite(score) and (session.best is None or score > session.best.score):
        session.best = Best(score=score, step=session.step)


def _is_time(session: Session) -> bool:
    waited = time.perf_counter() - session.saved_at
    return waited >= max(CHECKPOINT_S, session.checkpoint_s / CHECKPOINT_SHARE)


def _checkpoint(session: Session, optimizer: torch.optim.Optimizer, parameters: dict[str, nn.Parameter], lr: float) -> None:
    began = time.perf_counter()
    if not all(bool(parameter.isfinite().all()) for parameter in parameters.values()):
        raise _diverged(session, lr, math.nan)
    snapshot = Snapshot(
        step=session.step,
        best=session.best,
        encoder=session.encoder.backbone.state_dict(),
        heads=session.heads.state_dict(),
        optimizer=optimizer_tensors(optimizer, parameters),
        random=random_tensors(session.encoder.machine.device),
    )
    session.checkpoints.save(snapshot)
    session.saved_at = time.perf_counter()
    session.checkpoint_s = session.saved_at - began
    session.tell(events.Checkpoint(step=session.step))


def _diverged(session: Session, lr: float, loss: float) -> EmbedlabError:
    kept = session.checkpoints.steps()
    last = f"the checkpoint of step {kept[-1]} is kept" if kept else "no checkpoint was saved before it"
    return EmbedlabError(
        f"training diverged at step {session.step}: the loss is {loss} at learning rate {lr:.3g}; {last}",
        hint=f"take a lower rate, for example --set optim.lr={lr / 4:.1g}, or clip gradients: --set optim.clip=1.0",
    )
