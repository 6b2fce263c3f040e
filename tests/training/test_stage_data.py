"""A stage reads what its recipe selects: whole datasets, or samples of them."""

from pathlib import Path

import numpy as np
import pytest

from embedlab.core.errors import UsageError
from embedlab.core.recipe import Recipe, from_table, load_recipe
from embedlab.training.order import Indices
from embedlab.training.stage_data import StageData, open_stage
from tests.training.small_runs import SAMPLE


def opened(recipe: str, rows: int, seed: int = 1) -> StageData:
    return open_stage(load_recipe(recipe, [f"stage.0.data.rows={rows}"]), SAMPLE, seed, 0)


def test_a_sample_of_rows_has_the_requested_size_and_is_the_same_for_every_seed() -> None:
    first, second = (
        opened("defsent", 50, seed=1).rows.frame,
        opened("defsent", 50, seed=2).rows.frame,
    )
    assert len(first) == 50
    assert first.equals(second)


def test_a_sample_by_seed_is_another_one_for_each_seed_and_the_same_again() -> None:
    recipe = load_recipe("defsent", ["stage.0.data.rows=50", "stage.0.data.sample=seed"])
    first, again, second = (open_stage(recipe, SAMPLE, seed, 0).rows.frame for seed in (1, 1, 2))
    assert len(second) == 50
    assert first.equals(again)
    assert not first.equals(second)


def test_a_sample_by_seed_needs_a_number_of_rows() -> None:
    with pytest.raises(
        UsageError, match=r"'stage.0.data.sample' is set, but the stage reads all rows"
    ):
        load_recipe("defsent", ["stage.0.data.sample=seed"])


def test_a_sample_comes_from_the_whole_file_and_keeps_its_order() -> None:
    whole, some = SAMPLE.open("snli").frame, opened("snli-supcl", 100).rows.frame
    places = {row: index for index, row in enumerate(whole.select(some.columns).iter_rows())}
    positions = [places[row] for row in some.iter_rows()]
    assert positions == sorted(positions)
    assert max(positions) > len(whole) / 2


def test_the_pairs_of_a_drawn_premise_all_come() -> None:
    whole, some = SAMPLE.open("snli").frame, opened("snli-supcl", 100).rows.frame
    missing = [
        len(whole.filter(premise=premise)) - count
        for premise, count in some.group_by("premise").len().iter_rows()
    ]
    assert min(missing) == 0
    assert np.count_nonzero(missing) <= 1  # the last one drawn may be cut


def contrast(rows: int | None = None, **data: object) -> Recipe:
    """Contrast over the sentences of three datasets, of which the second is read in part."""
    names = ["sentiment", "paraphrase-sentences", "sts-course-sentences"]
    own = {
        "datasets": names,
        "shares": {"paraphrase-sentences": 0.06},
        **({"rows": rows} if rows else {}),
        **data,
    }
    values = {
        "summary": "a test",
        "encoder": {"model": "nobody/nothing", "pooling": "cls"},
        "stage": [
            {
                "data": own,
                "objective": {"name": "in_batch_contrastive"},
                "optim": {"lr": 1e-5, "batch_size": 16, "epochs": 3},
            },
        ],
    }
    return from_table(values, name="small", where="test")


def datasets_of(data: StageData, rows: Indices) -> list[int]:
    return np.searchsorted(data.ends, rows, side="right").tolist()


def test_datasets_in_turn_follow_each_other_within_each_epoch() -> None:
    data = open_stage(contrast(order="in-turn"), SAMPLE, 1, 0)
    for epoch in range(3):
        batches = [set(datasets_of(data, rows)) for rows in data.batches(epoch)]
        assert [next(iter(batch)) for batch in batches] == sorted(
            next(iter(batch)) for batch in batches
        )
        assert all(len(batch) == 1 for batch in batches)
    assert sorted(np.concatenate(data.batches(0))[: data.ends[0]].tolist()) == list(
        range(data.ends[0])
    )


@pytest.mark.parametrize("order", ["in-turn", None])
def test_a_share_is_drawn_anew_for_each_epoch_and_seed_by_whole_pairs(order: str | None) -> None:
    data, other = (
        open_stage(contrast(**({"order": order} if order else {})), SAMPLE, seed, 0)
        for seed in (1, 2)
    )
    pairs = (data.ends[1] - data.ends[0]) // 2
    drawn = []
    for own in (data, other):
        for epoch in range(3):
            rows = np.concatenate(own.batches(epoch))
            assert len(set(rows.tolist())) == len(rows)
            questions = np.sort(rows[np.array(datasets_of(own, rows)) == 1]) - own.ends[0]
            assert questions.reshape(-1, 2).tolist() == [
                [2 * pair, 2 * pair + 1] for pair in questions[::2] // 2
            ]
            assert len(questions) // 2 == round(0.06 * pairs)
            assert (
                datasets_of(own, rows).count(2) == own.ends[2] - own.ends[1]
            )  # the others are read whole
            drawn.append(frozenset(questions.tolist()))
    assert len(set(drawn)) == 6
    read = set(data.read.tolist())
    assert read == {
        row for epoch in range(3) for rows in data.batches(epoch) for row in rows.tolist()
    }
    assert data.used == [
        data.ends[0],
        sum(data.ends[0] <= row < data.ends[1] for row in read),
        data.ends[2] - data.ends[1],
    ]


def test_a_share_of_a_dataset_that_is_not_read_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'stage.0.data.shares' names 'wiki-split'"):
        contrast(shares={"wiki-split": 0.5})


def test_rows_with_a_sentence_of_an_evaluation_set_are_left_out_and_counted(tmp_path: Path) -> None:
    test, dev = (SAMPLE.open("sts13", "test").frame, SAMPLE.open("sts-benchmark", "dev").frame)
    first, second, third = (
        test["sentence1"][0].upper() + " !",
        dev["sentence2"][3],
        "Nothing of the kind at all",
    )
    rows = [("a", first), ("b", second), ("c", third), ("d", "...")]
    (tmp_path / "mine.tsv").write_text(
        "word\tdefinition\n" + "".join(f"{word}\t{text}\n" for word, text in rows)
    )
    values = ["data.datasets=[]", f'data.files=["{tmp_path / "mine.tsv"}"]']
    read = open_stage(load_recipe("defsent", values), SAMPLE, 1, 0)
    assert (read.rows.frame["word"].to_list(), read.excluded) == (["a", "b", "c", "d"], "")
    of_all = open_stage(
        load_recipe("defsent", [*values, 'data.exclude_text_of=["sts"]']), SAMPLE, 1, 0
    )
    assert of_all.rows.frame["word"].to_list() == ["c", "d"]  # a text without a word is in nothing
    assert of_all.excluded == "2 rows are left out: a sentence of theirs is in sts"
    assert of_all.states[0].skipped["text of sts"] == 2
    of_one = open_stage(
        load_recipe("defsent", [*values, 'data.exclude_text_of=["STS2013"]']), SAMPLE, 1, 0
    )
    assert of_one.rows.frame["word"].to_list() == ["b", "c", "d"]


def test_an_unknown_evaluation_set_is_refused() -> None:
    with pytest.raises(UsageError, match="no dataset named 'sts99'"):
        open_stage(load_recipe("defsent", ['data.exclude_text_of=["sts99"]']), SAMPLE, 1, 0)


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


def test_rows_in_the_order_of_their_file_are_read_as_a_whole() -> None:
    recipe = load_recipe("defsent", ["data.order=file", "data.shares={ definitions = 0.5 }"])
    with pytest.raises(UsageError, match="reads all rows as they come"):
        open_stage(recipe, SAMPLE, 1, 0)
