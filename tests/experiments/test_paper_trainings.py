"""From a paper's table to cells: reuse over tables and grids, one encoder for all rows, runs that
fit a row, members by seed.
"""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from embedlab.analysis.claims import Claim, ClaimedDifference, settle_claims
from embedlab.core.errors import UsageError
from embedlab.core.names import recipe_names
from embedlab.core.recipe import load_recipe, recipe_to_table
from embedlab.core.settings import Settings
from embedlab.experiments.deviations import RowRecipes, deviations, rows_text
from embedlab.experiments.grid_file import load_grid, with_fixed
from embedlab.experiments.matching_runs import (
    RowModels,
    differing_settings,
    failed_trainings,
    find_runs_of,
)
from embedlab.experiments.paper_file import select_tables
from embedlab.experiments.paper_table import Deviation, PaperTable, RowSource
from embedlab.experiments.paper_trainings import (
    TablePlan,
    expand_table,
    expected_recipe,
    limit_to_claims,
    limit_to_encoder,
    trainings,
    with_chosen_rates,
)
from embedlab.experiments.planner import expand_grid
from embedlab.runs.events import Finished
from embedlab.runs.store import RunFolder
from tests.stored_json import store_recipe
from tests.stored_scores import finish_run, say

ENCODER = "nobody/nothing"
SETS = (f"encoder.model={ENCODER}",)


def one(paper: str, name: str) -> PaperTable:
    (table,) = select_tables(paper, name)
    return limit_to_encoder(table, ENCODER)[0]


def cells(table: PaperTable, place: Settings, *overrides: str) -> TablePlan:
    return expand_table(table, place, seeds=[1, 2], threads=1, overrides=[*SETS, *overrides])


def runs_of(table: PaperTable, place: Settings, encoder: str | None = ENCODER) -> dict[str, str]:
    """The runs in PLACE that fill rows of TABLE, by the keys of their trainings."""
    return find_runs_of(table, place.runs, (), encoder)


def make_run(
    place: Settings,
    name: str,
    *overrides: str,
    recipe: str = "snli-supcl",
    seeds: tuple[int, ...] = (1,),
) -> None:
    """A finished run, as far as its name, its recipe and its model's folder go."""
    for seed in seeds:
        run = RunFolder.of(place.runs, name, seed)
        run.model.mkdir(parents=True)
        store_recipe(run, load_recipe(recipe, overrides, encoder=ENCODER))


def test_stages_of_two_recipes_and_the_mix_reach_the_cell(place: Settings) -> None:
    found = cells(one("chen", "table7"), place).plan
    assert found is not None
    assert [variant.recipe["mix"]["combine"] for variant in found.variants] == [
        "surgery",
        "average",
    ]
    assert found.variants[0].recipe["stage"][0]["data"]["datasets"] == ["nli-triplets"]
    assert len(found.variants[0].recipe["stage"]) == 6


@pytest.mark.parametrize(
    ("paper", "table", "key"),
    [
        ("liao", "table6", "objective.weight"),
        ("liao", "table6", "stages.objective.weight"),
        ("liao", "table6", "stage.0.objective.weight"),
        ("chen", "section6_batch_size", "stages.optim.batch_size"),
        ("chen", "section6_batch_size", "stage.2.optim.batch_size"),
    ],
)
def test_a_key_that_distinguishes_rows_cannot_be_set_for_all(
    place: Settings, paper: str, table: str, key: str
) -> None:
    with pytest.raises(UsageError) as trained:
        cells(one(paper, table), place, f"{key}=2")
    with pytest.raises(UsageError) as found:  # all rows would take one run
        find_runs_of(one(paper, table), place.runs, [f"{key}=2"], ENCODER)
    for error in (trained, found):
        assert repr(key) in error.value.message


def test_one_encoder_for_all_leaves_out_rows_about_others() -> None:
    (table,) = select_tables("tsukagoshi", "table3")
    remaining, out = limit_to_encoder(table, ENCODER)
    assert len(out) == 9
    assert all(row.startswith("BERT-large") for row in out)
    left = set(table.sources) - set(out)
    assert {point.row for point in remaining.points} == set(remaining.sources) == left
    assert limit_to_encoder(table, None) == (table, ())
    (roberta,) = select_tables("tsukagoshi", "table5")
    for source in limit_to_encoder(roberta, ENCODER)[0].sources.values():
        assert "encoder.model" not in source.set


def test_a_claim_leaves_its_two_rows_their_parts_and_the_columns_it_is_about() -> None:
    (table,) = select_tables("tsukagoshi", "table3")
    name = "bert-base-s-d-over-concat"
    limited = limit_to_claims(replace(table, claims={name: table.claims[name]}))
    rows = {"BERT-base S+D", "BERT-base CONCAT", "BERT-base SBERT", "BERT-base DefSent"}
    assert {*limited.sources} == rows
    assert [*limited.points] == [
        point for point in table.points if point.row in rows and point.column != "Avg."
    ]


def test_a_row_takes_the_run_of_its_very_recipe_then_one_that_agrees_in_what_the_rows_differ_in(
    place: Settings,
) -> None:
    table = one("liao", "table6")
    make_run(place, "mine", "objective.weight=0.1", "optim.lr=3e-5")
    make_run(place, "exact", "objective.weight=0.1")
    make_run(place, "other", "objective.weight=0.9", "data.rows=50")
    make_run(place, "snli-supcl", "data.rows=50", "optim.lr=1e-5")  # λ 0.3
    make_run(place, "near", "data.rows=50")
    found = runs_of(table, place)
    rows = {row: found.get(key) for key, (row, _) in trainings(table).items()}
    assert rows == {"0.1": "exact", "0.3": "near", "0.5": None, "0.7": None, "0.9": "other"}
    shutil.rmtree(place.runs / "exact")
    assert "mine" in runs_of(table, place).values()


def test_rows_are_filled_from_runs_that_differ_in_nothing_else_where_there_are_some(
    place: Settings,
) -> None:
    table = one("liao", "table6")
    for name, *values in (("a", "optim.epochs=6.0"), ("z", "optim.epochs=0.5")):
        make_run(place, f"{name}-0.1", "objective.weight=0.1", *values)
    make_run(place, "z-0.3", "objective.weight=0.3", "optim.epochs=0.5")
    make_run(place, "z-0.9", "objective.weight=0.9", "optim.epochs=0.5")
    found = runs_of(table, place)
    assert set(found.values()) == {"z-0.1", "z-0.3", "z-0.9"}
    assert differing_settings(table, place.runs, found) == {}


def test_runs_that_differ_in_more_than_the_rows_are_reported(place: Settings) -> None:
    table = one("liao", "table6")
    make_run(place, "long", "objective.weight=0.1", "optim.epochs=6.0")
    make_run(place, "short", "objective.weight=0.9", "optim.epochs=0.5", "data.rows=50")
    found = runs_of(table, place)
    assert set(found.values()) == {"long", "short"}
    assert differing_settings(table, place.runs, found) == {
        "stage.0.optim.epochs": ["6.0", "0.5"],
        "stage.0.data.rows": ["null", "50"],
    }


def test_combinations_match_their_parts_by_seed_and_the_control_couples_seeds(
    place: Settings,
) -> None:
    table = one("tsukagoshi", "table3")
    make_run(place, "s", recipe="sbert", seeds=(1, 2, 3))
    make_run(place, "d", recipe="defsent", seeds=(2, 3, 4))
    run_of = runs_of(table, place)
    models = RowModels(table=table, runs=place.runs, run_of=run_of, encoder=ENCODER)

    def names(row: str) -> list[str]:
        return [member.name for member in models.members(table.sources[f"BERT-base {row}"])]

    assert names("SBERT") == ["s@1", "s@2", "s@3"]
    assert names("AVERAGE") == ["average(s@2,d@2)", "average(s@3,d@3)"]
    assert names("CONCAT of two SBERT seeds") == [
        "concat(s@1,s@2)"
    ]  # seed 3 has no partner of its own
    assert names("w/oFT") == [f"{ENCODER}?pooling=mean"]
    assert names("S+D") == []
    named = [models.members(RowSource(model=name)) for name in ("s", "s@2", "nobody/s")]
    assert [[member.name for member in members] for members in named] == [
        ["s@1", "s@2", "s@3"],
        ["s@2"],
        ["nobody/s"],
    ]
    assert [
        member.seed
        for member in replace(models, seeds=[3]).members(table.sources["BERT-base AVERAGE"])
    ] == [3]


def test_a_run_of_another_recipe_fills_no_row_though_its_objective_is_the_same(
    place: Settings,
) -> None:
    table = one("tsukagoshi", "table3")
    make_run(place, "liaos-baseline", recipe="snli-ce")
    assert runs_of(table, place) == {}
    make_run(place, "short-sbert", "data.rows=50", "optim.lr=1e-5", recipe="sbert")
    assert set(runs_of(table, place).values()) == {"short-sbert"}


def test_a_run_that_started_from_another_run_fills_no_row_of_its_last_recipe(
    place: Settings,
) -> None:
    (table,) = select_tables("chen", "table2")
    make_run(place, "pre-nli", recipe="multitask-pretrain-nli")
    for start in ("pre-nli", "pre-nli@1", str(place.runs / "pre-nli" / "seed-1" / "model")):
        run = RunFolder.of(place.runs, "further", 1)
        run.model.mkdir(parents=True, exist_ok=True)
        store_recipe(run, load_recipe("multitask", encoder=start))
        assert runs_of(table, place, None) == {}
    make_run(place, "baseline", recipe="multitask")
    assert set(runs_of(table, place, None).values()) == {"baseline"}


def test_every_recipe_has_a_summary_of_its_own() -> None:
    """By it a run is known to come from a recipe."""
    summaries = [load_recipe(name).summary for name in recipe_names()]
    assert len(set(summaries)) == len(summaries)


def test_deviations_name_keys_data_and_seeds_and_the_rows_they_hold_for() -> None:
    table = one("liao", "table6")
    recipes = {}
    for _, (row, source) in trainings(table).items():
        own = ["data.rows=50"] if row != "0.9" else ["data.rows=50", "optim.lr=1e-5"]
        ours = recipe_to_table(expected_recipe(source, own, ENCODER))
        recipes[row] = replace(RowRecipes.of(source, ours), paper_deviations=(), declared=())
    partial = {"name": "snli", "split": "train", "rows": 9, "expected_rows": 90, "partial": True}
    whole = {"name": "sts12", "split": "test", "rows": 9}
    found = deviations(
        table,
        recipes,
        [],
        {"0.1": [partial, partial, whole], "0.3": [partial]},
        {"0.1": 2, "0.3": 3, "0.5": 1, "0.7": 2},
    )
    assert [(one.what, one.paper, one.here, rows_text(one, [*recipes])) for one in found] == [
        ("encoder.model", "google/bert_uncased_L-8_H-512_A-8", ENCODER, "all trained"),
        ("data.rows", "not set", "50", "all trained"),
        ("optim.lr", "2e-05", "1e-05", "0.9"),
        ("snli train", "90 rows", "9 rows (partial)", "0.1, 0.3"),
        ("seeds per number", "1", "2", "0.1, 0.7"),
        ("seeds per number", "1", "3", "0.3"),
    ]
    generated = {"name": "snli", "split": "train", "origin": "tiny"}
    (said,) = deviations(table, {}, [], {"0.1": [generated]}, {})
    assert said == Deviation(
        what="snli train",
        paper="the corpus",
        here="generated: no number is about real language",
        rows=("0.1",),
    )
    assert rows_text(said, ["0.1"]) == "0.1"


def test_a_run_that_was_trained_on_less_or_did_not_learn_says_nothing_about_its_row(
    place: Settings,
) -> None:
    table = one("liao", "table6")
    make_run(place, "whole")
    make_run(place, "few-rows", "data.rows=128")
    make_run(place, "two-steps", "max_steps=2")
    make_run(place, "half-an-epoch", "optim.epochs=0.5")
    make_run(place, "flat")
    flat = RunFolder.of(place.runs, "flat", 1)
    say(flat, Finished(step=9, flaw="the loss was 0 at every step"))
    names = ("whole", "few-rows", "two-steps", "half-an-epoch", "flat")
    found = failed_trainings(table, place.runs, [f"{name}@1" for name in names], ())
    assert found.keys() == {f"{name}@1" for name in names[1:]}
    assert found["flat@1"] == "the loss was 0 at every step"


def test_nothing_is_concluded_of_rows_whose_runs_say_nothing_or_whose_numbers_are_equal() -> None:
    ours = ClaimedDifference(delta=3.0, low=1.0, high=5.0, p=0.001)
    claim = Claim(table="t", first="x", second="y", direction="above", columns=("a",))
    claims = dict.fromkeys("abcd", claim)
    measured = {
        "a": ours,
        "b": replace(ours, p=0.01),
        "c": replace(ours, last_digit=10.0),
        "d": replace(ours, delta=-3.0),
    }
    whole, flawed, equal, turned = settle_claims(claims, measured, ["b"])
    assert [one.verdict for one in (whole, flawed, equal)] == ["holds", "not measured", "open"]
    assert (whole.p, flawed.difference, equal.is_equal) == (pytest.approx(0.003), 3.0, True)
    assert np.isnan(flawed.p)
    assert [whole.probability, turned.probability] == pytest.approx([0.9995, 0.0005])
    assert flawed.probability == pytest.approx(0.995)


def test_rows_take_the_rate_that_their_own_grid_chose(place: Settings) -> None:
    plan = expand_grid(with_fixed(load_grid("sbert-lr"), SETS), place, seeds=[1, 2])
    plan.save()
    table = one("tsukagoshi", "table3")

    def chosen(*overrides: str, where: Settings = place) -> dict[str, object]:
        taken, _ = with_chosen_rates(table, where, overrides, ENCODER)
        return {row: own for row in taken.sources if (own := taken.source_of(row).chosen)}

    def train(score_of_rate: dict[str, float]) -> None:
        for cell in plan.cells:
            if (dev := score_of_rate.get(cell.variant.labels["optim.lr"])) is not None:
                finish_run(cell, dev=dev + cell.seed, flaw="no step" if dev > 80 else "")

    train({"1e-06": 90.0, "2e-06": 61.0, "5e-06": 70.0, "1e-05": 64.0, "2e-05": 63.0})
    assert chosen() == {}  # one rate is not trained
    train({"5e-05": 62.0})
    assert chosen() == {
        "BERT-base SBERT": {"stage.0.optim.lr": 5e-6},
        "BERT-base S+D": {"stage.0.optim.lr": 5e-6},
        "BERT-base D+S": {"stage.1.optim.lr": 5e-6},
        "BERT-base MULTI": {"stage.0.optim.lr": 5e-6},
    }
    assert chosen("stages.data.rows=64") == {}  # another sample of the data
    assert chosen("optim.lr=1e-4") == {}  # the user's choice
    assert chosen(where=replace(place, data=None)) == {}
    taken, notes = with_chosen_rates(table, place, (), ENCODER)
    assert notes == ["grid sbert-lr chose the rate 5e-06: mean dev score 71.50 over 2 seeds"]
    planned = cells(taken, place)
    rates = {
        label: [stage["optim"]["lr"] for stage in planned.variants[key].recipe["stage"]]
        for key, (label, _) in trainings(taken).items()
    }
    assert rates["BERT-base SBERT"] == [5e-6]
    assert rates["BERT-base D+S"] == [1.1314e-05, 5e-6]
    source = taken.source_of("BERT-base SBERT")
    recipes = {"BERT-base SBERT": RowRecipes.of(source, recipe_to_table(expected_recipe(source)))}
    (rate,) = [one for one in deviations(taken, recipes, [], {}, {}) if one.what == "optim.lr"]
    assert (rate.paper[:11], rate.here) == ("chosen from", "5e-06")
