"""One run from its recipe to its model: the stages one after the other, begun or taken up again."""

import contextlib
import os
import re
import shlex
import signal
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from embedlab.choices import Tracker
from embedlab.core.crash_reports import cause_of, report_unforeseen
from embedlab.core.disk import FullDiskError, largest_file
from embedlab.core.errors import (
    EmbedlabError,
    Hint,
    Interrupted,
    MissingError,
    NamedOption,
    RecipeValue,
    UsageError,
)
from embedlab.core.interrupts import stop_requests
from embedlab.core.printable import count_text
from embedlab.core.recipe import Recipe, to_toml, without_folders
from embedlab.core.session import ProgressCallback
from embedlab.data.dataset import DatasetState
from embedlab.data.overlaps import KnownText
from embedlab.data.source import Source
from embedlab.encoders.checkpoint import save_model
from embedlab.encoders.device import Machine, restore_random
from embedlab.encoders.loading import load_trainable
from embedlab.encoders.pretrained import merge_adapter
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.encoders.word_head import MaskedWordHead
from embedlab.models.catalog import starting_members
from embedlab.models.grammar import name_of
from embedlab.models.published import PACKAGED
from embedlab.objectives.needs import check_columns, objective_needs, require_data
from embedlab.objectives.objective import HEADS_FILE, build_objectives, write_sealed_tensors
from embedlab.runs import events
from embedlab.runs.environment import Environment, collect_environment
from embedlab.runs.events import EventLog
from embedlab.runs.status import flaw_of, is_trained, refuse_begun
from embedlab.runs.store import RunFolder
from embedlab.runs.tidy import drop_checkpoints, sweep
from embedlab.training.batching import Collation, chunk_cutter, stored_tokens
from embedlab.training.blocks import StageBlock, plan_stages
from embedlab.training.capture import CapturedPasses, common_shapes, why_not_captured
from embedlab.training.checkpointing import Checkpoints, Misfit, Snapshot, find_misfit
from embedlab.training.gradients import LossScale
from embedlab.training.learner import is_frozen, recompute_layers
from embedlab.training.loop import DevScore, TrainingSession, train_block
from embedlab.training.meter import accelerator, require_tracker
from embedlab.training.parallel import Team, join_team
from embedlab.training.stage_data import StageData

Emit = Callable[[events.Event], None]


def train_run(
    recipe: Recipe,
    source: Source,
    machine: Machine,
    run: RunFolder,
    seed: int,
    *,
    resume: bool = False,
    dev_score: DevScore | None = None,
    report: Emit | None = None,
    progress: ProgressCallback | None = None,
    track: Tracker | None = None,
    cache: Path | None = None,
    keeps_checkpoints: bool = False,
    seeds: Sequence[int] = (),
) -> None:
    """Train RECIPE with one seed into the folder of RUN, which afterwards holds the model.

    RESUME goes on from the newest checkpoint, or from the beginning where there is none, and leaves
    a finished run as it is; the result is bit-identical on a CPU with as many threads. The
    checkpoints go with the end, unless KEEPS_CHECKPOINTS. DEV_SCORE evaluates encoder and heads now
    and then (x 100), REPORT receives every event, PROGRESS how far the tokenising is, which is
    cached in the folder CACHE. Nothing is written before data and encoder are found. SEEDS are all
    that are trained one after the other, for who continues them.
    """
    require_tracker(track)
    _refuse(recipe, run, resume=resume, has_dev_score=dev_score is not None)
    encoder = _starting_encoder(recipe, source, machine, run)
    plan = plan_stages(recipe, source, seed, encoder.word_ids)
    stages = [data for block in plan for data in block.stages]
    environment = replace(_environment(machine, seed, stages, plan), seeds=tuple(seeds))
    torch.manual_seed(seed)
    objectives = build_objectives(recipe, encoder.dim)
    for objective in objectives:
        objective.attach(encoder)
        objective.to(machine.device)
    team = join_team(machine.device)
    team.scatter_dropout(seed)
    eager = why_not_captured(encoder, team) if machine.is_capturing else ""
    with team.hold_leader_lock(run.lock()):
        if not resume:
            refuse_begun(
                run
            )  # once more: another process may have trained it while this one loaded
        elif is_trained(run):
            run.refuse_other(recipe)
            _tidy_up(run, team, keeps_checkpoints=keeps_checkpoints)
            return
        notes = _begin(run, recipe, environment, team, resume=resume)
        notes += [f"passes are not captured: {eager}"] if eager else []
        steps = plan[-1].end
        misfit = partial(find_misfit, encoder=encoder, objectives=objectives, steps=steps)
        snapshot, damaged = Checkpoints(run.checkpoints).newest(
            misfit, with_best=recipe.evaluate.keep == "best"
        )
        file = run.events_file
        earlier_events = events.events_after(file)[0] if snapshot is None and file.is_file() else []
        if any(isinstance(event, events.Started) for event in earlier_events):
            notes.append("no checkpoint was saved before: training begins again from step 0")
        with EventLog(file) as log, stop_requests() as stop:
            emit = _leader_emit(team, log, report)
            session = TrainingSession(
                encoder=encoder,
                objectives=objectives,
                accelerator=accelerator(machine, run, recipe, track),
                scale=LossScale(machine),
                checkpoints=Checkpoints(run.checkpoints),
                stop=stop,
                emit=emit,
                evaluate=recipe.evaluate,
                dev_score=dev_score,
                team=team,
                captured=CapturedPasses(encoder) if machine.is_capturing and not eager else None,
                cache=cache,
                steps=steps,
            )
            with _report_endings(session):
                _start(session, snapshot, [*notes, *damaged, *_room_notes(session, run)])
                _train_blocks(session, plan, snapshot, progress)
                _take_best(session, recipe, misfit)
                _finish(session, run, recipe, seed, stages)
        _tidy_up(run, team, keeps_checkpoints=keeps_checkpoints)
    if (
        stop.signal is not None
    ):  # too late for this run, which is finished, and in time for what comes after it
        signal.raise_signal(stop.signal)


def _tidy_up(run: RunFolder, team: Team, *, keeps_checkpoints: bool) -> None:
    if team.is_leader and not keeps_checkpoints:
        drop_checkpoints(run)


def _leader_emit(team: Team, log: EventLog, report: Emit | None) -> Emit:
    """Where events go: into the run's log and to REPORT, from the leader alone."""

    def emit(event: events.Event) -> None:
        if team.is_leader:
            log.append(event)
            if report is not None:
                report(event)

    return emit


def _start(session: TrainingSession, snapshot: Snapshot | None, notes: Sequence[str]) -> None:
    """Restore the state of a checkpoint, and emit that the run begins, with all NOTES."""
    if snapshot is not None:
        _restore(session, snapshot)
    session.emit(
        events.Started(
            pid=os.getpid(), host=socket.gethostname(), steps=session.steps, step=session.step
        )
    )
    for note in [*notes, *(note for objective in session.objectives for note in objective.notes)]:
        session.note(note)


def _room_notes(session: TrainingSession, run: RunFolder) -> list[str]:
    """Return what to say of a disk without room for the model and a checkpoint beside it; one
    without room for the model alone is refused.
    """
    if not session.team.is_leader:
        return []
    weights = [*session.encoder.tensors().values()]
    trained = [
        parameter for parameter in session.encoder.backbone.parameters() if parameter.requires_grad
    ]
    model, moments = (
        sum(tensor.numel() * tensor.element_size() for tensor in tensors)
        for tensors in (weights, trained)
    )
    free_bytes = largest_file(run.path)
    if free_bytes < model:
        advice = "free some space, raise `ulimit -f`, or write elsewhere: "
        raise FullDiskError(
            f"no room for the model in {str(run.path)!r}: it takes {_mib(model)}, and "
            f"{_mib(free_bytes)} are free or allowed",
            hint=Hint(advice, NamedOption("--runs", "DIR")),
        )
    checkpoint = model + 2 * moments
    if run.checkpoints.exists() or free_bytes >= model + checkpoint:
        return []
    return [
        f"{_mib(free_bytes)} are free or allowed: room for the model ({_mib(model)}) and not for a "
        f"checkpoint beside it ({_mib(checkpoint)}): an interrupted training may have to begin anew"
    ]


def _mib(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"


def _train_blocks(
    session: TrainingSession,
    plan: Sequence[StageBlock],
    snapshot: Snapshot | None,
    progress: ProgressCallback | None,
) -> None:
    noticing = _with_stop_checks(session, progress)
    for block in plan:
        if session.step >= block.end:
            continue
        is_midway = session.step > block.first
        if not is_midway:
            session.best = session.unreported = None
        collations = [_collation(session, data, noticing) for data in block.stages]
        train_block(
            session,
            block,
            collations,
            snapshot.optimizer if snapshot is not None and is_midway else None,
        )
        snapshot = None


def _with_stop_checks(
    session: TrainingSession, progress: ProgressCallback | None
) -> ProgressCallback:
    """Return PROGRESS for what precedes a block's first step: a stop request ends it, unless other
    processes wait for this one there.
    """

    def tick(finished: int, total: int) -> None:
        if (stop := session.stop.signal) is not None and session.team.size == 1:
            saved = "what was saved before stays" if session.step else "nothing was trained yet"
            raise Interrupted(
                f"stopped by {stop.name} before step {session.step + 1} of {session.steps}; "
                f"{saved}",
                hint="type it again",
            )
        if progress is not None:
            progress(finished, total)

    return tick


def _collation(session: TrainingSession, data: StageData, progress: ProgressCallback) -> Collation:
    """Return what makes the batches of a stage; notes what is lost of its rows."""
    tokens = stored_tokens(session.encoder, data.rows.texts, session.cache, progress)
    objective, needs = session.objectives[data.index], objective_needs(data.stage.objective)
    vectors = (
        session.encoder.embed_tokens(tokens, progress) if is_frozen(data.stage, objective) else None
    )
    if vectors is not None:
        objective.fit_vectors(vectors)
    collation = Collation(
        data=data,
        needs=needs,
        tokens=tokens,
        objective=objective,
        vectors=vectors,
        pad=int(session.encoder.tokenizer.pad_token_id or 0),
        cut=chunk_cutter(session.encoder),
        team=session.team,
    )
    notes = []
    if session.captured is not None and vectors is None:
        shapes = common_shapes(collation, session.encoder)
        collation = replace(collation, pack=shapes.pack)
        notes.append(
            f"passes are captured in rows of {shapes.width} tokens; {shapes.padding:.0%} of them "
            f"are padding"
        )
    if needs.compares_rows and (parts := data.stage.optim.accumulate) is not None:
        rows = data.stage.optim.batch_size
        notes.append(
            f"a row is compared with the others of its part alone, about {-(-rows // parts)} of "
            f"{rows}: not the loss of the whole batch"
        )
    notes += filter(None, [data.excluded, data.scale])
    if lost_rows := data.rows.left_out:
        notes.append(
            f"{count_text(lost_rows, 'rows are')} left out: the word is not one known token"
        )
    if cut_count := int(collation.tokens.truncated.sum()):
        notes.append(
            f"{count_text(cut_count, 'sentences are')} cut at {session.encoder.max_tokens} tokens"
        )
    for note in notes:
        session.note(f"stage {data.index}: {note}")
    return collation


def _take_best(session: TrainingSession, recipe: Recipe, misfit: Misfit) -> None:
    """Let the leader go back to the best state of the encoder, where the recipe wants that one."""
    best = session.best
    if (
        session.team.is_leader
        and recipe.evaluate.keep == "best"
        and best is not None
        and best.step != session.step
    ):
        _load(session, session.checkpoints.read_best(best, misfit))
        session.note(
            f"the model is that of step {best.step}, whose dev score is the highest: "
            f"{best.score:.2f}"
        )


def _finish(
    session: TrainingSession, run: RunFolder, recipe: Recipe, seed: int, stages: Sequence[StageData]
) -> None:
    """Let the leader write the model, and the text that it was trained on."""
    if not session.team.is_leader:
        return
    write_sealed_tensors(run.path / HEADS_FILE, session.heads)
    KnownText.of(data.rows.frame[data.read] for data in stages).write(run.training_text_file)
    heads = [objective.word_head for objective in session.objectives]
    word_head = next((head for head in heads if isinstance(head, MaskedWordHead)), None)
    card = model_card(
        replace(recipe, name=run.name),
        seed,
        [state for data in stages for state in data.states],
        is_normalised=session.encoder.is_normalised,
    )
    if (lora := recipe.encoder.lora) is not None and lora.save == "merged":
        merge_adapter(session.encoder.backbone)
    saves_merged = lora is None or lora.save == "merged"
    write = partial(
        save_model,
        run.model,
        session.encoder,
        card=card,
        word_head=word_head if saves_merged else None,
    )
    try:
        write()
    except FullDiskError:  # of checkpoint and model the model is what the training was for
        drop_checkpoints(run)
        write()
    for tracker in (
        session.accelerator.trackers
    ):  # accelerate's own ending would part the processes before their next seed
        tracker.finish()
    if skipped := session.scale.skipped:
        session.note(
            f"{skipped} of {session.steps} steps were skipped: their gradients were too large for "
            f"fp16"
        )
    recorded, _ = events.events_after(run.events_file)
    problem = flaw_of(recorded, keeps_best=recipe.evaluate.keep == "best")
    session.emit(events.Finished(step=session.step, flaw=problem))


def _restore(session: TrainingSession, snapshot: Snapshot) -> None:
    _load(session, snapshot)
    if states := session.team.own_states(snapshot.random):
        restore_random(states, session.encoder.machine.device)
    session.step, session.best, session.unreported = (
        snapshot.step,
        snapshot.best,
        snapshot.unreported,
    )
    session.scale.restore(snapshot.scale)


def _load(session: TrainingSession, weights: Snapshot) -> None:
    session.encoder.load_tensors(weights.encoder)
    nn.ModuleList(session.objectives).load_state_dict(
        weights.heads, strict=False
    )  # what is fixed is not saved


@contextmanager
def _report_endings(session: TrainingSession) -> Iterator[None]:
    """Make whatever ends the run early an event, so that whoever follows it knows why."""
    try:
        yield
    except (Interrupted, KeyboardInterrupt):
        saved = [
            step for step in session.checkpoints.steps() if step <= session.step
        ]  # later ones were passed over, as damaged
        session.emit(events.RunInterrupted(step=max(saved, default=0)))
        raise
    except Exception as error:
        reported = _as_embedlab_error(error)
        with contextlib.suppress(MissingError):  # a full disk may refuse this line too
            ended = events.Failed(
                message=reported.message,
                hint=reported.hint,
                exit_code=reported.exit_code,
                cause=cause_of(error),
            )
            session.emit(ended)
        if isinstance(error, EmbedlabError | OSError | MemoryError):
            raise
        raise reported from error


def _as_embedlab_error(error: Exception) -> EmbedlabError:
    if isinstance(error, EmbedlabError):
        return error
    if isinstance(
        error, OSError | MemoryError
    ):  # of the machine: the command says in its own words what it refused
        return EmbedlabError(f"{type(error).__name__}: {error}")
    return report_unforeseen(error)


def _refuse(recipe: Recipe, run: RunFolder, *, resume: bool, has_dev_score: bool) -> None:
    check_columns(recipe)
    require_data(recipe)
    if recipe.evaluate.keep == "best" and not has_dev_score:
        raise UsageError(
            "evaluate.keep is 'best', but there is no dev score",
            hint=Hint("name a dataset: ", RecipeValue("evaluate.dev", "sts-benchmark")),
        )
    if not resume:
        refuse_begun(run)


def _environment(
    machine: Machine, seed: int, stages: Sequence[StageData], plan: Sequence[StageBlock]
) -> Environment:
    data = [
        _part_state(state, limit)
        for stage in stages
        for state, limit in zip(stage.states, stage.used, strict=True)
    ]
    is_plain = (
        machine.device.type == "cpu" and not machine.has_cpu_engine
    )  # dropout is drawn otherwise
    engine_note = ", captured" if machine.is_capturing else ", engine off" if is_plain else ""
    device = f"{machine.device}{engine_note}"
    steps, whole_steps = plan[-1].end, sum(block.whole_steps for block in plan)
    shortened = (steps, whole_steps) if steps < whole_steps else None
    return collect_environment(
        seed=seed,
        device=device,
        precision=machine.precision,
        threads=machine.threads,
        data=data,
        shortened=shortened,
    )


def _part_state(state: DatasetState, limit: int | None) -> dict[str, Any]:
    """The state of a part as environment.json keeps it; `used` where the recipe takes fewer rows
    than there are.
    """
    part = {
        key: dict(value) if isinstance(value, Mapping) else value
        for key, value in vars(state).items()
    }
    return part if limit is None or limit >= state.rows else {**part, "used": limit}


def _begin(
    run: RunFolder, recipe: Recipe, environment: Environment, team: Team, *, resume: bool
) -> list[str]:
    """Let the leader write what is written once, before the others look at the run."""
    if team.is_leader:
        sweep(run)
    notes = _write_once(run, recipe, environment, resume=resume) if team.is_leader else []
    team.wait()
    return notes


def _write_once(
    run: RunFolder, recipe: Recipe, environment: Environment, *, resume: bool
) -> list[str]:
    """Write recipe and environment, or compare them with those of the run that is taken up; notes
    what may change its numbers.
    """
    if not (resume and run.environment_file.exists()):
        # What an attempt left behind that ended before its first checkpoint does not bind this one.
        run.recipe_file.unlink(missing_ok=True)
        run.environment_file.unlink(missing_ok=True)
        run.write_once(recipe, environment)
        return []
    run.write_once(recipe, environment)
    stored_environment = run.environment()
    if _contents(stored_environment) != _contents(environment):
        begun_by = shlex.join(stored_environment.command)
        raise UsageError(
            f"the data of run {run.id!r} has changed since it was begun",
            hint=Hint(
                f"it was begun by `{begun_by}`: give the same data, or train anew: ",
                NamedOption("--name", f"{run.name}-2"),
            ),
        )
    changed = [
        name
        for name in ("device", "precision", "threads", "packages")
        if getattr(stored_environment, name) != getattr(environment, name)
    ]
    return [
        f"resumed with other {name} than before: the result may differ in its last digits"
        for name in changed
    ]


def _contents(environment: Environment) -> list[Any]:
    """What identifies the rows of each part of the data: the hashes of its files, or the revision
    of rows from the hub.
    """
    return [
        (
            part["name"],
            part.get("split"),
            part.get("rows"),
            part.get("sha256") or part.get("revision"),
        )
        for part in environment.data
    ]


def _starting_encoder(
    recipe: Recipe, source: Source, machine: Machine, run: RunFolder
) -> TransformerEncoder:
    """The encoder that training starts from; of a run with several seeds, that of the same seed."""
    section = recipe.encoder
    (member,) = starting_members(section.model, run.path.parents[1], [run.seed])
    spec = replace(member, pooling=section.pooling)
    encoder = load_trainable(
        spec,
        machine,
        max_tokens=section.max_tokens,
        lora=section.lora,
        seed=run.seed,
        offline=source.offline,
    )
    if machine.is_recomputing:
        recompute_layers(encoder)
    return encoder


_HUB_ID = re.compile(r"\w[\w.-]*/[\w.-]+")


def model_card(
    recipe: Recipe, seed: int, states: Sequence[DatasetState], *, is_normalised: bool
) -> str:
    """Return the card of a run's model, in the hub's Markdown with a YAML head."""
    normalised = ", vectors of length 1 as of the model it started from" if is_normalised else ""
    shortened = (
        f", shortened to {count_text(recipe.max_steps, 'steps')}"
        if recipe.max_steps is not None
        else ""
    )
    read_data = "\n".join(f"* {_describe(state)}" for state in states)
    return f"""---
library_name: sentence-transformers
pipeline_tag: sentence-similarity
tags: [sentence-transformers, embedlab]
{_base_line(recipe)}---
# {recipe.name}

{recipe.summary}

Trained by embedlab from `{recipe.encoder.model}` with seed {seed}{shortened}.
Pooling `{recipe.encoder.pooling}`, at most {recipe.encoder.max_tokens} tokens{normalised}.

Data:

{read_data}

Recipe:

```toml
{to_toml(without_folders(recipe)).strip()}
```
"""


def _describe(state: DatasetState) -> str:
    marks = [
        mark
        for mark, applies in (("partial", state.partial), ("generated", state.origin == "tiny"))
        if applies
    ]
    total = f" of {state.expected_rows}" if state.expected_rows not in {None, state.rows} else ""
    return (
        f"{state.name}, {state.split}: {state.rows}{total} "
        f"rows{', ' if marks else ''}{', '.join(marks)}"
    )


def _base_line(recipe: Recipe) -> str:
    """Return the line of the head that names the base model, where that is on the hub."""
    name = name_of(recipe.encoder.model)
    name = PACKAGED[name].repository if name in PACKAGED else name
    return f"base_model: {name}\n" if _HUB_ID.fullmatch(name) else ""
