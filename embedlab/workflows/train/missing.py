"""What a training lacks on this machine: data to train and to evaluate on, and encoders; nothing is
downloaded and no encoder is loaded.
"""

import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from embedlab.core.errors import EmbedlabError, MissingError, NotDownloadedError, NotLoadedError
from embedlab.core.hints import Hint, NamedOption
from embedlab.core.network import OFFLINE, is_reachable
from embedlab.core.paths import STARTER_FOLDER
from embedlab.core.recipe import Recipe
from embedlab.core.settings import Settings
from embedlab.data.file_name import file_path
from embedlab.data.hub import is_local
from embedlab.data.hub_pairs import is_hub_name, parse_hub_name
from embedlab.data.own_files import is_pair_file
from embedlab.data.source import Source, dataset
from embedlab.models.catalog import trainable
from embedlab.runs.launch import shared_flags
from embedlab.workflows.starting import tiny_encoder_folder
from embedlab.workflows.train.plan import TrainPlan, selected_recipe, train_arguments


def missing_to_train(recipe: Recipe, settings: Settings) -> list[Hint]:
    """Return a line about each dataset, file and encoder that is read before the first step."""
    return list(
        dict.fromkeys(
            [*_missing_data(recipe, settings), *missing_encoder(recipe.encoder.model, settings)]
        )
    )


def refuse_missing(plan: TrainPlan, settings: Settings) -> None:
    """Refuse a training that lacks data or weights which the hub cannot give now: all of it at
    once, with a command that needs nothing more where there is one.
    """
    lines = _without_hub(plan.recipe, settings)
    if lines and (settings.offline or not is_reachable()):
        every = [
            *missing_to_train(plan.recipe, settings),
            *missing_evaluation(plan.recipe, settings),
        ]
        said = "; ".join(str(line.parts[0]).removesuffix("; ") for line in every)
        raise MissingError(said, hint=_command_beside(plan, settings))  # one for all of them


def _without_hub(recipe: Recipe, settings: Settings) -> list[Hint]:
    """Return what is missing to train RECIPE and for its dev score."""
    untasked = replace(recipe, evaluate=replace(recipe.evaluate, tasks=()))
    return [*missing_to_train(recipe, settings), *missing_evaluation(untasked, settings)]


def _command_beside(plan: TrainPlan, settings: Settings) -> Hint:
    """Return the command that trains the same on what is inside embedlab or installed, or else what
    to bring.
    """
    beside, options = settings, plan.options
    if beside.data is None:
        beside = replace(beside, data=STARTER_FOLDER)
    if any(missing_encoder(plan.recipe.encoder.model, settings)):
        options = replace(options, encoder="minilm")
    dev = ("evaluate.dev=none",)
    for overrides in (options.overrides, (*options.overrides, *dev)):
        tried = replace(options, overrides=overrides)
        with suppress(EmbedlabError):
            recipe, *_ = selected_recipe(tried, beside)
            has_head = not any(
                stage.objective.name == "definition_to_word" for stage in recipe.stages
            )
            if (has_head or options == plan.options) and not _without_hub(recipe, beside):
                flags, usual = shared_flags(beside), shared_flags(Settings())
                words = train_arguments(tried, beside)[: -len(flags)]
                for key, value, default in zip(
                    flags[:6:2], flags[1:6:2], usual[1:6:2], strict=True
                ):
                    words += [key, value] if value != default else []
                return Hint(f"on this machine: embedlab {shlex.join([*words, *flags[6:]])}")
    return Hint(
        "give the folder of the corpora with ",
        NamedOption("--data", "DIR"),
        " and that of an encoder with ",
        NamedOption("--encoder", "DIR"),
        ", or run once with a network",
    )


def check_rows(plan: TrainPlan, settings: Settings) -> None:
    """Refuse rows that the stages of PLAN cannot be trained on, as `train --detach` does; what has
    to be downloaded is not read.
    """
    from embedlab.training.stage_data import open_stages

    with suppress(NotDownloadedError, NotLoadedError):
        open_stages(
            plan.recipe, replace(Source.from_settings(settings), downloads=False), plan.todo[0].seed
        )


def missing_encoder(name: str, settings: Settings) -> Iterator[Hint]:
    """Yield a line about each set of weights of the encoder NAME that is not on this machine; the
    generated corpora build their own.
    """
    if name == str(tiny_encoder_folder(settings)):
        return
    for spec in trainable(name, settings.runs):
        if spec.is_on_hub and not _is_downloaded(spec.location, spec.revision):
            yield _from_hub(f"encoder {spec.location!r}", settings)


def missing_evaluation(recipe: Recipe, settings: Settings) -> Iterator[Hint]:
    """Yield a line about the missing data that a recipe's dev score or its tasks read, and one with
    the number of further datasets.
    """
    from embedlab.scoring.readiness import check_recipe_evaluation

    try:
        errors = check_recipe_evaluation(
            recipe, replace(Source.from_settings(settings), downloads=False)
        )
        lines = list(
            dict.fromkeys(
                _line(error, settings) for error in errors if not isinstance(error, NotLoadedError)
            )
        )
        yield from (Hint(line, " (the evaluation goes on without it)") for line in lines[:1])
        if more := len(lines[1:]):
            yield Hint(
                f"{more} more dataset{'s' if more > 1 else ''} of the evaluation "
                f"{'are' if more > 1 else 'is'} missing"
            )
    except NotLoadedError:  # the training loads its plug-ins, and checks then
        return
    except MissingError as error:  # the training refuses to begin
        yield _line(error, settings)


def _line(error: EmbedlabError, settings: Settings) -> Hint:
    """What is missing in one line, with what the hub can do about it."""
    if isinstance(error, NotDownloadedError):
        return _from_hub(error.subject, settings)
    return Hint(f"{error.message}; ", error.advice)


def _missing_data(recipe: Recipe, settings: Settings) -> Iterator[Hint]:
    source = Source.from_settings(settings)
    for stage in recipe.stages:
        for file in stage.data.files or ():
            if not Path(file).is_file():
                yield Hint(f"no file {file!r}")
        for name in stage.data.datasets:
            try:
                yield from _missing_dataset(source, name, stage.data.split, settings)
            except EmbedlabError as error:
                yield Hint(f"{error.message}; ", error.advice)


def _missing_dataset(source: Source, name: str, split: str, settings: Settings) -> Iterator[Hint]:
    if is_hub_name(name):
        repository = parse_hub_name(name).source.repository
        if not is_local(repository):
            yield _from_hub(f"dataset {name!r}", settings)
        elif not Path(repository).is_dir():
            raise MissingError(
                f"no folder {repository!r}", hint="hub:FOLDER is a copy of a repository of the hub"
            )
    elif is_pair_file(name):  # hub names would be one too
        if not file_path(name).is_file():
            raise MissingError(
                f"no file {str(file_path(name))!r}", hint="give the path of a file with pairs"
            )
    elif not source.is_at_hand(dataset(name), split):
        yield _from_hub(f"dataset {name!r} ({split})", settings)


def _from_hub(what: str, settings: Settings) -> Hint:
    if settings.offline:
        return Hint(f"{what} is not on this machine, and {OFFLINE}")
    return Hint(
        f"{what} will be downloaded from the hub"
        if is_reachable()
        else f"{what} is not on this machine, and the hub cannot be reached"
    )


def _is_downloaded(repository: str, revision: str | None) -> bool:
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(repository, "config.json", revision=revision), str)
