"""The objectives of a recipe, and which of their parameters are trained."""

import sys
from types import ModuleType

import pytest
import torch
from torch import nn

from embedlab.core import plugins
from embedlab.core.errors import MissingError
from embedlab.core.recipe import load_recipe
from embedlab.objectives.losses import paraphrase_head, similarity_head
from embedlab.objectives.objective import (
    Objective,
    build_objective,
    build_objectives,
    saved_tensors,
)

ParaphraseHead = paraphrase_head.objective()
SimilarityHead = similarity_head.objective()


class Straight(Objective):
    """A loss with one layer."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)


def heads_of(sharing: str) -> tuple[list[Objective], nn.Sequential, nn.Sequential]:
    """The objectives of the recipe `multitask` with one way of sharing, and the layers of the
    paraphrase and the similarity head.
    """
    recipe = load_recipe("multitask", [f"stage.2.objective.sharing={sharing}"])
    built = build_objectives(recipe, 8)
    (paraphrase,) = (one.layers for one in built if isinstance(one, ParaphraseHead))
    (similarity,) = (one.layers for one in built if isinstance(one, SimilarityHead))
    assert isinstance(paraphrase, nn.Sequential)
    assert isinstance(similarity, nn.Sequential)
    return built, paraphrase, similarity


@pytest.mark.parametrize(
    ("sharing", "first", "second"),
    [("separate", False, False), ("first-layer", True, False), ("whole", True, True)],
)
def test_the_objectives_of_a_recipe_share_the_layers_that_it_says(
    sharing: str, first: bool, second: bool
) -> None:
    built, paraphrase, similarity = heads_of(sharing)
    assert len(built) == len(load_recipe("multitask", []).stages)
    assert (similarity.first is paraphrase.first) is first
    assert (similarity.second is paraphrase.second) is second


@pytest.mark.parametrize(("sharing", "fewer"), [("separate", 0), ("first-layer", 2), ("whole", 4)])
def test_a_shared_layer_is_trained_once(sharing: str, fewer: int) -> None:
    built, _, _ = heads_of(sharing)
    every = sum(len(list(objective.parameters())) for objective in built)
    assert len(saved_tensors(built)) == every - fewer


def test_parameters_are_named_by_their_stage_and_frozen_ones_are_left_out() -> None:
    first, second = Straight(), Straight()
    first.layer.bias.requires_grad_(requires_grad=False)
    found = saved_tensors([first, second])
    assert list(found) == ["0.layer.weight", "1.layer.weight", "1.layer.bias"]
    assert found["1.layer.bias"] is second.layer.bias


def test_an_objective_is_itself_a_plain_loss_without_heads_of_the_encoder() -> None:
    plain = Straight()
    assert (plain.views, plain.frozen, plain.notes, plain.word_head) == (
        (None,),
        "nothing",
        (),
        None,
    )
    with pytest.raises(NotImplementedError):
        plain(torch.zeros(1, 2), {})
    assert plain.sample({}, None) == {}  # type: ignore[arg-type]


def test_a_module_of_a_package_that_has_no_loss_is_refused_with_what_to_write(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    section = load_recipe("snli-supcl", []).stages[0].objective
    parts = ("Options", "needs", "SUMMARY", "describe")  # all but the loss
    lacking = ModuleType("lacking")
    vars(lacking).update({name: getattr(similarity_head, name, None) for name in parts})
    monkeypatch.setitem(sys.modules, "lacking", lacking)
    bare = plugins.Plugin(kind="objectives", name="bare", origin="other 1.0", module="lacking")
    monkeypatch.setattr(plugins, "require", lambda *_: bare)

    with pytest.raises(MissingError, match="has no loss") as refused:
        build_objective(section, 8)
    assert "declare the class itself" in (refused.value.hint or "")
