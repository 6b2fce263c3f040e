"""What the cells of a grid need and this machine lacks, found before one of them starts."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

from embedlab.core.errors import MissingError, NotDownloadedError, NotLoadedError
from embedlab.core.hints import Hint
from embedlab.core.recipe import Recipe, from_table
from embedlab.core.settings import Settings
from embedlab.data.source import Source
from embedlab.experiments.plan import GridPlan, Variant
from embedlab.models.catalog import starting_location
from embedlab.objectives.needs import check_columns
from embedlab.workflows.train.missing import missing_encoder, missing_evaluation


def check_variants(variants: Iterable[Variant], settings: Settings) -> list[MissingError]:
    """Refuse what no cell of VARIANTS could be trained or evaluated with, as `embedlab train` does;
    return what its evaluation lacks.
    """
    from embedlab.scoring.readiness import check_recipe_evaluation

    source = Source.from_settings(settings)
    variants = list(variants)
    for name in _encoders(variants):
        starting_location(name, settings.runs)
    errors = [
        error for recipe in _recipes(variants) for error in check_recipe_evaluation(recipe, source)
    ]
    return list({error.message: error for error in errors}.values())


def missing_of_variants(variants: Iterable[Variant], settings: Settings) -> list[Hint]:
    """Return a line about each encoder and each part of the evaluation's data that is missing;
    training data is checked by the plan.
    """
    variants = list(variants)
    encoders = [line for name in _encoders(variants) for line in missing_encoder(name, settings)]
    return list(
        dict.fromkeys(
            [
                *encoders,
                *(
                    line
                    for recipe in _recipes(variants)
                    for line in missing_evaluation(recipe, settings)
                ),
            ]
        )
    )


def check_variant_rows(plan: GridPlan, settings: Settings) -> None:
    """Refuse rows that a stage of a cell cannot be trained on, as for a recipe; what has to be
    downloaded is not read.

    Variants that differ in other things than their data, or in the number of its rows, are checked
    once.
    """
    from embedlab.training.stage_data import open_stages

    source, seen = replace(Source.from_settings(settings), downloads=False), set()
    for variant in plan.variants:
        recipe = from_table(variant.recipe, name=variant.run, where=variant.run)
        check_columns(recipe)
        data = repr([(stage.objective, replace(stage.data, rows=None)) for stage in recipe.stages])
        if data not in seen:
            seen.add(data)
            with suppress(NotDownloadedError, NotLoadedError):
                open_stages(recipe, source, plan.seeds[0])


def _encoders(variants: Iterable[Variant]) -> list[str]:
    return list(dict.fromkeys(str(variant.recipe["encoder"]["model"]) for variant in variants))


def _recipes(variants: Iterable[Variant]) -> Iterator[Recipe]:
    """One recipe of each kind of evaluation: a task looks at the data and the objectives of the
    stages, besides its own data.
    """
    seen = set()
    for variant in variants:
        recipe = from_table(variant.recipe, name=variant.run, where=variant.run)
        stages = tuple((stage.objective.name, stage.data.datasets) for stage in recipe.stages)
        if (kind := (recipe.evaluate.tasks, recipe.evaluate.dev, stages)) not in seen:
            seen.add(kind)
            yield recipe
