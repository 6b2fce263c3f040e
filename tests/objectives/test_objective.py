"""The objectives of a recipe, and which of their parameters are trained."""

import sys
from types import ModuleType

import pytest
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


@pytest.mark.parametrize(
    ("sharing", "first", "second", "fewer"),
    [("separate", False, False, 0), ("first-layer", True, False, 2), ("whole", True, True, 4)],
)
def test_shared_layers_are_trained_once_and_leave_each_head_its_own_dropout(
    sharing: str, first: bool, second: bool, fewer: int
) -> None:
    settings = [f"stage.2.objective.sharing={sharing}", "stage.2.objective.dropout=0.4"]
    built = build_objectives(load_recipe("multitask", settings), 8)
    (paraphrase,) = (one.layers for one in built if isinstance(one, ParaphraseHead))
    (similarity,) = (one.layers for one in built if isinstance(one, SimilarityHead))
    assert isinstance(paraphrase, nn.Sequential)
    assert isinstance(similarity, nn.Sequential)
    assert (similarity.first is paraphrase.first) is first
    assert (similarity.second is paraphrase.second) is second
    assert (similarity.dropout.p, paraphrase.dropout.p) == (0.4, 0.3)
    every = sum(len(list(objective.parameters())) for objective in built)
    assert len(saved_tensors(built)) == every - fewer


def test_parameters_are_named_by_their_stage_and_frozen_ones_are_left_out() -> None:
    first, second = Straight(), Straight()
    first.layer.bias.requires_grad_(requires_grad=False)
    found = saved_tensors([first, second])
    assert list(found) == ["0.layer.weight", "1.layer.weight", "1.layer.bias"]
    assert found["1.layer.bias"] is second.layer.bias


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
