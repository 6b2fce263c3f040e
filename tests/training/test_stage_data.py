"""A stage reads what its recipe selects: whole datasets, or samples of them."""

from pathlib import Path

import numpy as np
import pytest

from embedlab.core.errors import EmbedlabError
from embedlab.core.recipe import Recipe, load_recipe
from embedlab.training.blocks import open_stages
from embedlab.training.order import Indices
from embedlab.training.stage_data import StageData, open_stage
from tests.training.small_runs import SAMPLE, recipe_of, stage


@pytest.mark.parametrize(
    ("changes", "is_same"), [([], True), (["stage.0.data.sample=seed"], False)]
)
def test_a_sample_is_the_same_again_and_with_another_seed_as_the_recipe_says(
    changes: list[str], is_same: bool
) -> None:
    recipe = load_recipe("defsent", ["stage.0.data.rows=50", *changes])
    first, again, other = (open_stage(recipe, SAMPLE, seed, 0).rows.frame for seed in (1, 1, 2))
    assert len(first) == len(other) == 50
    assert first.equals(again)
    assert first.equals(other) is is_same


def test_a_sample_comes_from_the_whole_file_in_its_order_with_all_pairs_of_a_premise() -> None:
    whole = SAMPLE.open("snli").frame
    some = open_stage(load_recipe("snli-supcl", ["stage.0.data.rows=100"]), SAMPLE, 1, 0).rows.frame
    places = whole.with_row_index().join(some, on=some.columns, maintain_order="right")["index"]
    assert places.is_sorted()
    assert places.max() > len(whole) / 2
    counts = whole["premise"].value_counts().join(some["premise"].value_counts(), on="premise")
    missing = counts["count"] - counts["count_right"]
    assert missing.min() == 0
    assert (missing > 0).sum() <= 1  # the last one drawn may be cut


def contrast(**data: object) -> Recipe:
    """Contrast over the sentences of three datasets, of which the second is read in part."""
    names = ["sentiment", "paraphrase-sentences", "sts-course-sentences"]
    of = stage("in_batch_contrastive", optim={"epochs": 3})
    of["data"] = {"datasets": names, "shares": {"paraphrase-sentences": 0.06}, **data}
    return recipe_of(Path("nobody/nothing"), of)


def datasets_of(data: StageData, rows: Indices) -> list[int]:
    return np.searchsorted(data.ends, rows, side="right").tolist()


def test_datasets_in_turn_follow_each_other_within_each_epoch() -> None:
    data = open_stage(contrast(order="in-turn"), SAMPLE, 1, 0)
    for epoch in range(3):
        batches = [set(datasets_of(data, rows)) for rows in data.batches(epoch)]
        assert all(len(batch) == 1 for batch in batches)
        order = [min(batch) for batch in batches]
        assert order == sorted(order)
    first = np.concatenate(data.batches(0))[: data.ends[0]]
    assert sorted(first.tolist()) == list(range(data.ends[0]))


@pytest.mark.parametrize("order", [{"order": "in-turn"}, {}])
def test_a_share_is_drawn_anew_for_each_epoch_and_seed_by_whole_pairs(
    order: dict[str, str],
) -> None:
    data, other = (open_stage(contrast(**order), SAMPLE, seed, 0) for seed in (1, 2))
    first, second, third = data.ends
    drawn = set()
    read: set[int] = set()
    for of, epoch in ((data, 0), (data, 1), (data, 2), (other, 0)):
        rows = np.sort(np.concatenate(of.batches(epoch)))
        questions = rows[(first <= rows) & (rows < second)]
        pairs = (questions - first).reshape(-1, 2)
        assert pairs.tolist() == [[2 * pair, 2 * pair + 1] for pair in pairs[:, 0] // 2]
        assert len(pairs) == round(0.06 * (second - first) / 2)
        # the others are read whole
        assert rows.tolist() == [*range(first), *questions, *range(second, third)]
        drawn.add(tuple(questions))
        read |= set(rows.tolist()) if of is data else set()
    assert len(drawn) == 4
    assert set(data.read.tolist()) == read
    assert data.used == [first, len(read) - first - (third - second), third - second]


def test_rows_with_a_sentence_of_an_evaluation_set_are_left_out_and_counted(tmp_path: Path) -> None:
    test, dev = SAMPLE.open("sts13", "test").frame, SAMPLE.open("sts-benchmark", "dev").frame
    texts = [test["sentence1"][0].upper() + " !", dev["sentence2"][3], "Nothing of the kind", "..."]
    lines = [f"{word}\t{text}\n" for word, text in zip("abcd", texts, strict=True)]
    (tmp_path / "mine.tsv").write_text("word\tdefinition\n" + "".join(lines))
    values = ["data.datasets=[]", f'data.files=["{tmp_path / "mine.tsv"}"]']

    def without(*sets: str) -> StageData:
        excluded = [f'data.exclude_text_of=["{name}"]' for name in sets]
        return open_stage(load_recipe("defsent", [*values, *excluded]), SAMPLE, 1, 0)

    def words(data: StageData) -> str:
        return "".join(data.rows.frame["word"])

    assert (words(without()), without().excluded) == ("abcd", "")
    of_all = without("sts")
    assert words(of_all) == "cd"  # a text without a word is in nothing
    assert of_all.excluded == "2 rows are left out: a sentence of theirs is in sts"
    assert of_all.states[0].skipped["text of sts"] == 2
    assert words(without("STS2013")) == "bcd"


def test_rows_in_the_order_of_their_file_come_the_same_in_each_epoch_and_part_a_premise_where_a_batch_ends() -> (
    None
):
    recipe = load_recipe(
        "snli-supcl",
        ["stage.0.data.rows=100", "data.order=file", "optim.batch_size=16", "optim.epochs=2"],
    )
    data = open_stage(recipe, SAMPLE, 3, 0)
    for epoch in (0, 1):
        assert np.concatenate(data.batches(epoch)).tolist() == list(range(len(data.rows)))
        assert {len(batch) for batch in data.batches(epoch)[:-1]} == {16}
    assert data.epochs == (7, 7)


FUSION = "multitask-fusion"


@pytest.mark.parametrize(
    ("recipe", "changes", "fault"),
    [
        ("own-pairs", ["data.files=nothing.csv"], "no file '.*nothing.csv'"),
        (
            "sbert",
            ["data.columns.premise=text"],
            r"data.columns' has no effect: it is for own files",
        ),
        ("sbert", ["data.datasets=[]"], r"'stage.0.data.datasets' is missing"),
        ("defsent", ["data.sample=seed"], r"data.sample' is set, but the stage reads all rows"),
        ("defsent", ["data.shares={ wiki-split = 0.5 }"], r"data.shares' names 'wiki-split'"),
        ("defsent", ['data.exclude_text_of=["sts99"]'], "no dataset named 'sts99'"),
        (
            "defsent",
            ["data.order=file", "data.shares={ definitions = 0.5 }"],
            "reads all rows as they come",
        ),
        ("snli-supcl", ["optim.accumulate=2", "optim.micro_batch=4"], "accumulate and micro_batch"),
        ("multitask-given", ["stage.1.optim.epochs=2"], r"'stage.1.optim.epochs' must be 5.0"),
        (FUSION, ["stage.1.optim.batch_size=8"], r"'stage.1.optim.batch_size' must be 16"),
        (FUSION, ["stage.0.data.rows=30"], "stage 1 cannot read the batches of stage 0"),
    ],
)
def test_what_a_stage_cannot_read_is_refused(recipe: str, changes: list[str], fault: str) -> None:
    with pytest.raises(EmbedlabError, match=fault) as refused:
        open_stages(load_recipe(recipe, changes), SAMPLE, 1)
    assert refused.value.hint
