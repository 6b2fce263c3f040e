"""What objectives need of data by their options, and recipes that are refused before any data is
read.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from embedlab.core.errors import UsageError
from embedlab.core.names import objective_options
from embedlab.core.recipe import load_recipe
from embedlab.objectives.needs import Needs, check_columns, require_data


def needs_of(name: str, options: Mapping[str, Any]) -> Needs:
    module = objective_options(name)
    found: Needs = module.needs(module.Options(**options))
    return found


@pytest.mark.parametrize(
    ("name", "options", "columns"),
    [
        ("definition_to_word", {}, ("definition", "word")),
        ("paraphrase_head", {}, ("sentence1", "sentence2", "is_duplicate")),
        ("sentiment_head", {}, ("sentence", "label")),
        ("class_contrastive", {"classes": "none"}, ("sentence",)),
        ("class_contrastive", {"classes": "none", "joint": True}, ("sentence1", "sentence2")),
        ("class_contrastive", {"classes": ("a", "b")}, ("sentence", "label")),
        (
            "class_contrastive",
            {"classes": ("a", "b"), "joint": True},
            ("sentence1", "sentence2", "label"),
        ),
        (
            "class_contrastive",
            {"classes": "tenths", "joint": True},
            ("sentence1", "sentence2", "gold"),
        ),
        ("classification", {"joint": True}, ("sentence1", "sentence2", "label")),
        ("classification", {"classes": "score", "joint": True}, ("sentence1", "sentence2", "gold")),
        (
            "duplicate_contrastive",
            {"others": "leave-out"},
            ("sentence1", "sentence2", "is_duplicate"),
        ),
        ("in_batch_contrastive", {"joint": True}, ("sentence1", "sentence2")),
        ("in_batch_contrastive", {"positives": "triplets"}, ("anchor", "positive", "negative")),
        ("in_batch_contrastive", {"positives": "pairs"}, ("anchor", "positive")),
    ],
)
def test_the_columns_follow_from_the_options(
    name: str, options: Mapping[str, Any], columns: tuple[str, ...]
) -> None:
    found = needs_of(name, options)
    assert found.columns == columns
    assert found.joint == bool(options.get("joint", False))
    assert found.encoded == (("joint",) if found.joint else found.sentences)
    assert {*found.shape.columns} == {*columns}


@pytest.mark.parametrize(
    ("name", "options", "inert"),
    [
        ("classification", {"frozen": True, "dropout": (0.1,)}, {"dropout": "[]"}),
        ("classification", {"frozen": True}, {}),
        ("similarity_head", {"layers": "none"}, {"dropout": "0.0"}),
        ("similarity_head", {"layers": "none", "dropout": 0.0}, {}),
        ("in_batch_contrastive", {"positives": "pairs", "joint": True}, {"joint": "false"}),
    ],
)
def test_an_option_that_the_others_make_ineffective_is_named(
    name: str, options: Mapping[str, Any], inert: Mapping[str, str]
) -> None:
    assert needs_of(name, options).inert_options == inert


def test_scores_of_pairs_need_pairs() -> None:
    with pytest.raises(UsageError, match=r"are scores of pairs, but 'objective\.joint' is false"):
        needs_of("classification", {"classes": "score"})


def test_own_files_are_read_with_the_same_columns_by_what_they_hold() -> None:
    shape = Needs(
        sentences=("a",),
        words=("w",),
        classes={"label": ("x", "y")},
        numbers=("gold",),
        largest=5.0,
        only={"kind": "1"},
    ).shape
    assert shape.texts == ("a", "w")
    assert shape.labels == {"label": ("x", "y"), "kind": ()}
    assert shape.numbers == {"gold": 5.0}


@pytest.mark.parametrize(
    ("recipe", "column", "kinds"),
    [("snli-ce", "premise", "nli"), ("glue-finetune", "label", "sentiment or classification")],
)
def test_a_recipe_whose_data_lacks_a_column_is_refused_before_it_is_read(
    recipe: str, column: str, kinds: str
) -> None:
    check_columns(load_recipe(recipe))
    check_columns(load_recipe(recipe, ["data.datasets=my/own.tsv"]))  # checked when it is opened
    with pytest.raises(
        UsageError, match=f"needs column '{column}', which 'wiki-1m' does not have"
    ) as refused:
        check_columns(load_recipe(recipe, ["data.datasets=wiki-1m"]))
    assert refused.value.hint == f"take a dataset of kind {kinds}: `embedlab data ls`"


def test_a_recipe_for_own_rows_without_any_is_refused_with_its_columns() -> None:
    with pytest.raises(
        UsageError, match="trains on files of your own, and none is named"
    ) as refused:
        require_data(load_recipe("own-scored-pairs"))
    assert "--set data.files=FILE; it has columns sentence1, sentence2, gold" in refused.value.hint
    require_data(load_recipe("own-scored-pairs", ["data.files=mine.tsv"]))
    require_data(load_recipe("snli-ce"))


@pytest.mark.parametrize(("weight", "predicts"), [(0.0, "label"), (0.99, "label"), (1.0, None)])
def test_a_loss_that_is_all_contrastive_trains_no_head(weight: float, predicts: str | None) -> None:
    assert needs_of("supervised_contrastive", {"weight": weight}).predicts == predicts
