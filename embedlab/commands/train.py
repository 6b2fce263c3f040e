"""`embedlab train`: a recipe becomes one run a seed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from embedlab.commands.command import command
from embedlab.commands.terminal import Terminal
from embedlab.commands.training_plan import TrainOptions
from embedlab.core.errors import EmbedlabError, ExitCode
from embedlab.core.printable import count_text, short_line
from embedlab.core.settings import Settings
from embedlab.reports.report import Report

if TYPE_CHECKING:
    from embedlab.core.recipe import Recipe
    from embedlab.objectives.needs import WordIds
    from embedlab.training.stage_data import StageData


@command("data runs machine steps output")
def train(options: TrainOptions, session: Terminal) -> Report | ExitCode | None:
    """Train RECIPE and score the model on the recipe's tasks, or train on the rows of FILE.

    The columns of a FILE, the kind of its rows and the scale of its scores are detected and shown;
    'FILE?score=NAME' corrects them. Without --dev a part of the rows is held out for the dev score:
    whole topics, which share no sentence with the others.

    Ctrl-C saves a checkpoint and stops, a second Ctrl-C stops at once; `--resume` continues from
    the checkpoint. A job that may be restarted can always pass `--resume`: it starts the run,
    continues it, evaluates it, or says that it is finished.

    Examples:
        $ embedlab train pairs.csv --encoder ENCODER --dev dev.csv --name mine
        $ embedlab train snli-supcl --data DIR --seeds 3
        $ embedlab train snli-ce --set optim.lr=1e-5 --name snli-ce-slow --resume
        $ embedlab train own-pairs --set data.files=faq.csv --set data.columns.anchor=question
          --set data.columns.positive=answer

    """
    from embedlab.commands import training
    from embedlab.commands.training_plan import plan_training

    settings = session.settings
    if options.dry_run:
        recipe, record = preview(options, settings)
        if settings.format == "json":
            session.write_json(json.dumps(record, indent=2, ensure_ascii=False))
        else:
            session.write("\n".join(_preview_lines(recipe, record)))
        return None
    plan = plan_training(options, settings)
    elsewhere = options.cluster is not None
    local_plan = replace(plan, options=replace(options, gpus=None)) if elsewhere else plan
    training.check_training(local_plan, session)
    if plan.todo and options.cluster is not None:
        training.submit_training(plan, options.cluster, session)
    elif plan.todo and options.detach:
        training.start_detached_training(plan, session)
    elif plan.todo and (options.gpus or 1) > 1:
        # the processes report why one fails
        return ExitCode(training.train_together(plan, settings))
    else:
        return training.train_plan(plan, session)
    return None


MOST_OF_ROLE = 3  # sentences of an example


def preview(options: TrainOptions, settings: Settings) -> tuple[Recipe, Mapping[str, Any]]:
    """Return the recipe of a new training with OPTIONS, and what it reads and how long it is as
    plain values; nothing is written.
    """
    from embedlab.commands.training_plan import (
        check_start,
        encoder_notes,
        planned_folders,
        selected_recipe,
    )
    from embedlab.core.recipe import recipe_to_table
    from embedlab.data.source import Source
    from embedlab.objectives.needs import require_data
    from embedlab.training.blocks import plan_stages
    from embedlab.training.stage_data import first_example

    recipe, start, own_training = selected_recipe(options, settings)
    require_data(recipe)
    planned_folders(options, recipe, settings)
    check_start(options, recipe, start, settings)
    vocabulary = _word_reader(recipe, settings, options.planned_seeds[0])
    source, seed = Source.from_settings(settings), options.planned_seeds[0]
    order = plan_stages(recipe, source, seed, vocabulary)
    notes = own_training.notes if own_training is not None else ()
    notes = (*notes, *encoder_notes(options.encoder, settings))
    return recipe, {
        **({"notes": [*notes]} if notes else {}),
        "recipe": recipe_to_table(recipe),
        "steps": order[-1].end,
        "whole_steps": sum(block.whole_steps for block in order),
        "stages": [
            {
                "stage": data.index,
                "rows": len(data.rows),
                "steps": sum(data.epochs),
                "batch_size": data.stage.optim.batch_size,
                "scale": data.scale,
                "excluded": "; ".join(_notes_on_left_out(data, is_known=vocabulary is not None)),
                "example": [
                    {"role": role, "sentence": sentence}
                    for role, sentence in (first_example(data) if data.steps else ())
                ],
            }
            for block in order
            for data in block.stages
        ],
    }


def _preview_lines(recipe: Recipe, record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the RECIPE as TOML that can be trained, with comments from RECORD."""
    from embedlab.core.recipe import declared_text, to_toml

    if notes := record.get("notes"):
        yield from (*(f"# {note}" for note in notes), "")
    yield to_toml(recipe) + declared_text(recipe)
    if record["steps"] < record["whole_steps"]:
        yield f"# shortened to {record['steps']} of {record['whole_steps']} steps"
    for stage in record["stages"]:
        rows, step_rows = stage["rows"], min(stage["batch_size"], stage["rows"])
        steps = f"{stage['steps']} steps of {step_rows} rows"
        yield f"# stage {stage['stage']}: {rows} rows, {steps}; one example:"
        yield from (f"#   {stage[key]}" for key in ("scale", "excluded") if stage[key])
        for role, of_role in groupby(stage["example"], itemgetter("role")):
            sentences = [short_line(role_example["sentence"]) for role_example in of_role]
            if hidden_count := len(sentences[MOST_OF_ROLE:]):
                sentences[MOST_OF_ROLE:] = [f"… and {hidden_count} more"]
            yield from (f"#   {role:<12} {sentence}" for sentence in sentences)


def _notes_on_left_out(data: StageData, *, is_known: bool) -> Iterator[str]:
    """Yield notes on the rows that a stage does not read; IS_KNOWN: whether words are looked up in
    the encoder.
    """
    from embedlab.objectives.needs import objective_needs

    if data.excluded:
        yield data.excluded
    if objective_needs(data.stage.objective).words:
        count = data.rows.left_out
        yield (
            f"{count_text(count, 'rows are')} left out: the word is not one token of the encoder"
            if is_known
            else _UNKNOWN
        )


_UNKNOWN = (
    "the encoder is not on this machine: rows whose word is not one of its tokens are still "
    "counted, and left out by the training"
)


def _word_reader(recipe: Recipe, settings: Settings, seed: int) -> WordIds | None:
    """Return how the encoder reads single words, where a stage needs it and the tokenizer was
    found; without torch.
    """
    from tokenizers import Tokenizer

    from embedlab.encoders.word_tokens import single_tokens
    from embedlab.models.catalog import starting_members
    from embedlab.models.location import model_folder
    from embedlab.objectives.needs import objective_needs

    if not any(objective_needs(stage.objective).words for stage in recipe.stages):
        return None

    try:
        (member,) = starting_members(recipe.encoder.model, settings.runs, [seed])
        file = model_folder(member, offline=True) / "tokenizer.json"
    except EmbedlabError:  # not downloaded yet
        return None
    if not file.is_file():
        return None

    return partial(single_tokens, Tokenizer.from_file(str(file)))
