"""The deviations shown above a table: equal to a list made from the files alone, under each
profile.
"""

import tomllib
from typing import Any

import pytest

from embedlab.core.errors import UsageError
from embedlab.core.names import recipe_path
from embedlab.core.recipe import load_recipe, recipe_to_table
from embedlab.experiments.deviations import RowRecipes, deviations, recipes_of
from embedlab.experiments.paper_file import load_paper
from embedlab.experiments.paper_table import PaperTable, RowSource
from embedlab.experiments.paper_trainings import expected_recipe, for_profile, trainings
from embedlab.experiments.printed import PAPER_FILE, paper_folder, paper_names

TABLES = [
    table for paper in paper_names() for table in load_paper(paper).values() if trainings(table)
]


def read(name: str) -> dict[str, Any]:
    return tomllib.loads(recipe_path(name).read_text(encoding="utf-8"))


def declared_in_file(name: str, profile: str) -> dict[str, tuple[str, str, str | None]]:
    """Paper, source and what is done here by full key, from the TOML of a recipe or of "a+b"."""
    found, before = {}, 0
    names = name.split("+")
    for one in names:
        values = read(one)
        stages = len(values["stage"])
        own = {
            key: said
            for short, said in values.get("deviations", {}).items()
            for key in full(short, stages)
        }
        if profile != "paper":
            chosen = values["profiles"][profile]
            settled = {
                key
                for short in [*chosen.get("set", {}), *chosen.get("agrees", ())]
                for key in (
                    full(short, stages)
                    + (
                        []
                        if short.split(".")[0] in {"stage", "encoder", "mix"}
                        else full(f"stages.{short}", stages)
                    )
                )
            }
            own = {key: said for key, said in own.items() if key not in settled}
            own |= {
                key: said
                for short, said in chosen.get("deviations", {}).items()
                for key in full(short, stages)
            }
        for key, said in own.items():
            if key.startswith("stage."):
                _, index, rest = key.split(".", 2)
                key = f"stage.{int(index) + before}.{rest}"
            elif one != names[-1]:
                continue
            found[key] = said["paper"], said["source"], said.get("here")
        before += stages
    return found


def full(key: str, stages: int) -> list[str]:
    first, _, rest = key.partition(".")
    if first == "stages":
        return [f"stage.{index}.{rest}" for index in range(stages)]
    return [f"stage.0.{key}"] if first in {"data", "objective", "optim"} else [key]


def at(values: Any, key: str) -> Any:
    for step in key.split("."):
        values = (
            values[int(step)]
            if isinstance(values, list) and step.isdigit()
            else (values or {}).get(step)
        )
    return values


def shown(table: PaperTable, profile: str) -> set[tuple[str, str, str]]:
    found = deviations(table, recipes_of(table, profile), [], {}, {})
    return {(row, one.paper, one.source) for one in found for row in (one.rows or ["*"])}


def from_files(table: PaperTable, profile: str) -> set[tuple[str, str, str]]:
    """The same from the paper's file and the recipes' files: declarations of keys that rows leave
    as they are, and changed keys.
    """
    found = set()
    for label, source in trainings(table).values():
        assert source.recipe is not None
        of_paper, declared = (
            declared_in_file(source.recipe, "paper"),
            declared_in_file(source.recipe, profile),
        )
        found |= {(label, paper, where) for paper, where, _ in declared.values()}
        if profile != "paper":
            before, after = (
                recipe_to_table(expected_recipe(source)),
                recipe_to_table(expected_recipe(source, [f"profile={profile}"])),
            )
            for short in keys_set(source, profile):
                if at(before, short) != at(after, short):
                    paper, where, _ = of_paper.get(short, (said(at(before, short)), "", None))
                    found.add((label, paper, where))
    path = paper_folder(table.paper) / PAPER_FILE
    own = tomllib.loads(path.read_text(encoding="utf-8"))["tables"][table.name].get(
        "deviations", []
    )
    for one in own:
        rows = one.get("rows", ["*"])
        found |= {
            (row, one["paper"], one.get("source", ""))
            for row in rows
            if row == "*" or row in table.sources
        }
    return found


def keys_set(source: RowSource, profile: str) -> set[str]:
    """Every key that the profile of a recipe's file sets, or its task in it."""
    assert source.recipe is not None
    values = read(source.recipe)
    chosen, stages = values["profiles"][profile], len(values["stage"])
    shorts = [
        *chosen.get("set", {}),
        *(key for task in chosen.get("tasks", {}).values() for key in task),
    ]
    return {
        key
        for short in shorts
        for key in full(
            short if short.split(".")[0] in {"stage", "stages", "encoder"} else f"stages.{short}",
            stages,
        )
    }


def said(value: Any) -> str:
    if value is None:
        return "not set"
    return (
        "+".join(map(said, value))
        if isinstance(value, list)
        else value
        if isinstance(value, str)
        else repr(value)
    )


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.paper}-{table.name}")
def test_the_deviations_of_a_table_are_those_of_its_files(table: PaperTable) -> None:
    assert shown(table, "paper") == from_files(table, "paper")
    if table.paper != "chen":
        coded, _ = for_profile(table, "code")
        assert shown(coded, "code") == from_files(coded, "code")
        assert {paper for _, paper, _ in shown(coded, "code")} != {
            paper for _, paper, _ in shown(table, "paper")
        }


def test_what_was_in_comments_alone_is_declared() -> None:
    """The premises, the dictionary, the pooler, activations of heads, labels of in-batch negatives,
    schedule and clipping.
    """
    for name, key in [
        ("sbert", "stage.0.objective.premises"),
        ("defsent", "stage.0.data.datasets"),
        ("supcl-seq", "encoder.pooling"),
        ("snli-ce", "stage.0.objective.head"),
        ("multitask", "stage.0.objective.layers"),
        ("snli-augment-3p3n", "stage.0.objective.augment"),
        ("defsent", "stage.0.optim.schedule"),
        ("supcl-seq", "stage.1.optim.clip"),
    ]:
        assert key in {own for one in load_recipe(name).deviations for own in one.keys}, name


def test_a_declared_key_that_the_run_sets_otherwise_shows_what_the_paper_says_of_it() -> None:
    ours = recipe_to_table(load_recipe("sbert", ["objective.premises=apart"]))
    table = load_paper("tsukagoshi")["table2_mean_cosines"]
    found = {
        one.what: one
        for one in deviations(
            table, {"sbert": RowRecipes.of(table.sources["sbert"], ours)}, [], {}, {}
        )
    }
    assert found["objective.premises"].paper == "rows shuffled one by one"
    assert found["objective.premises"].here == "apart"
    assert [one for one in found if one.endswith("premises")] == ["objective.premises"]


def test_a_paper_without_its_authors_code_refuses_the_profile() -> None:
    for name, reason in (("code", "chen has none but paper"), ("cod", "chen has none but paper")):
        with pytest.raises(UsageError) as error:
            for_profile(load_paper("chen")["table6_multitask_objective"], name)
        assert reason in error.value.hint


def test_rows_whose_recipe_lacks_the_profile_are_left_out_with_what_combines_them() -> None:
    table, out = for_profile(load_paper("liao")["table2_sts"], "code")
    assert out == ("3p3n-Augment", "allpalln-Augment")
    assert table.profile == "code"
    assert not {claim for claim in table.claims.values() if "Augment" in claim.first + claim.second}
