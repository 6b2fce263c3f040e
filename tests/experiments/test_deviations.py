"""What deviates from a paper is shown in its words, and a profile that it lacks is refused."""

from embedlab.core.recipe import load_recipe, recipe_to_table
from embedlab.experiments.deviations import RowRecipes, deviations
from embedlab.experiments.paper_file import load_paper
from embedlab.experiments.paper_trainings import limit_to_profile
from tests.refusal import refused


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


def test_generated_data_and_its_encoder_are_said_as_what_they_are() -> None:
    ours = recipe_to_table(load_recipe("snli-supcl", ["encoder.model=/k/tiny-encoder/53b39899"]))
    source = load_paper("liao")["table7_tau_sts"].sources.popitem()[1]
    state = {"name": "snli", "split": "train", "rows": 3803, "origin": "tiny"}
    rows = {"row": RowRecipes.of(source, ours)}
    table = load_paper("liao")["table7_tau_sts"]
    here = {one.what: one.here for one in deviations(table, rows, [], {"row": [state]}, {})}
    assert here["data.datasets"] == "snli: 3,803 generated rows"
    assert here["encoder.model"] == "a small random encoder"


def test_a_paper_without_its_authors_code_refuses_the_profile() -> None:
    for name in ("code", "cod"):
        with refused(name, "chen has none but paper"):
            limit_to_profile(load_paper("chen")["table6_multitask_objective"], name)


def test_rows_whose_recipe_lacks_the_profile_are_left_out_with_what_combines_them() -> None:
    table, out = limit_to_profile(load_paper("liao")["table2_sts"], "code")
    assert out == ("3p3n-Augment", "allpalln-Augment")
    assert table.profile == "code"
    assert not {claim for claim in table.claims.values() if "Augment" in claim.first + claim.second}
