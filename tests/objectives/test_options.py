"""What an objective does unless a recipe says more, and what it reads."""

from typing import Any

import pytest

from embedlab.core.errors import UsageError
from embedlab.core.names import objective_options
from embedlab.core.recipe import load_recipe

# As the papers have them, which each file of options names.
PLAIN: dict[str, dict[str, Any]] = {
    "class_contrastive": {
        "classes": ("0", "1"),
        "joint": False,
        "dropout": (0.0, 0.1, 0.2),
        "temperature": 0.05,
        "reduction": None,
        "rates": None,
        "scale": None,
    },
    "classification": {
        "classes": ("0", "1"),
        "joint": False,
        "frozen": False,
        "dropout": (),
        "head_dropout": 0.1,
        "standardise": None,
    },
    "definition_to_word": {"head": "mlm"},
    "duplicate_contrastive": {
        "others": "maximise",
        "temperature": 0.05,
        "projection": "two-layer",
        "repeats": "masked",
    },
    "in_batch_contrastive": {
        "positives": "dropout",
        "joint": False,
        "temperature": 0.05,
        "projection": "none",
        "repeats": "masked",
    },
    "nli_softmax": {"head": "linear", "augment": None, "premises": "together"},
    "paraphrase_head": {"layers": "two-layer", "dropout": 0.3},
    "sentiment_head": {"layers": "two-layer", "dropout": 0.3},
    "similarity_head": {
        "layers": "two-layer",
        "dropout": 0.3,
        "sharing": "separate",
        "highest": 5.0,
    },
    "supervised_contrastive": {
        "weight": 0.3,
        "temperature": 1.0,
        "positives": "all",
        "negatives": "all",
        "similarity": "dot",
        "head": "two-layer",
        "anchors": None,
    },
}


@pytest.mark.parametrize("name", PLAIN)
def test_an_objective_does_what_its_paper_does_unless_a_recipe_says_more(name: str) -> None:
    assert vars(objective_options(name).Options()) == PLAIN[name]


@pytest.mark.parametrize(
    ("recipe", "key", "allowed", "refused"),
    [
        ("multitask", "stages.objective.dropout", ("0", "0.99"), ("-0.1", "1")),
        ("simcse", "objective.temperature", ("0.01",), ("0", "-1")),
        ("snli-supcl", "objective.positives", ("1", "all"), ("0",)),
        ("snli-supcl", "objective.weight", ("0", "1"), ("-0.1", "1.1")),
    ],
)
def test_an_option_out_of_its_range_is_refused(
    recipe: str, key: str, allowed: tuple[str, ...], refused: tuple[str, ...]
) -> None:
    for value in allowed:
        load_recipe(recipe, [f"{key}={value}"])
    for value in refused:
        with pytest.raises(UsageError):
            load_recipe(recipe, [f"{key}={value}"])
