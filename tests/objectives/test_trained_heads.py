"""The heads of a finished run: taken whole, or refused with the file and the tensor."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from embedlab.core.errors import MissingError
from embedlab.core.recipe import load_recipe
from embedlab.objectives.objective import (
    HEADS_FILE,
    build_objectives,
    load_objectives,
    saved_tensors,
    write_sealed_tensors,
)


def run_with(folder: Path, heads: Mapping[str, Tensor], recipe: str = "multitask") -> Any:
    """What `load_objectives` reads of a run."""
    write_sealed_tensors(folder / HEADS_FILE, heads)
    return SimpleNamespace(path=folder, name="made", recipe=lambda: load_recipe(recipe, []))


def trained() -> dict[str, Tensor]:
    """Heads of the recipe `multitask` on vectors of eight numbers."""
    torch.manual_seed(5)
    return {
        name: torch.randn_like(one)
        for name, one in saved_tensors(build_objectives(load_recipe("multitask", []), 8)).items()
    }


def test_every_head_has_the_numbers_that_the_run_saved(tmp_path: Path) -> None:
    heads = trained()
    more = heads | {"7.more": torch.zeros(2)}  # is not read
    found = load_objectives(run_with(tmp_path, more), 8)
    loaded = saved_tensors(found)
    assert list(loaded) == list(heads)
    assert all(torch.equal(loaded[name], one) for name, one in heads.items())
    assert len(found) == len(load_recipe("multitask", []).stages)


@pytest.mark.parametrize(
    "change",
    [
        lambda _: None,
        lambda one: one[:1],
        lambda one: torch.where(torch.arange(8) == 3, float("nan"), one),
    ],
    ids=["absent", "of another shape", "not finite"],
)
def test_a_head_that_would_give_results_of_chance_is_refused(change: Any, tmp_path: Path) -> None:
    heads = trained()
    name = [name for name, one in heads.items() if one.shape == (8,)][-1]
    changed = change(heads.pop(name))
    with pytest.raises(MissingError, match=f"lacks tensor '{name}' of \\[8\\] finite") as error:
        load_objectives(
            run_with(tmp_path, heads if changed is None else heads | {name: changed}), 8
        )
    assert HEADS_FILE in error.value.message
    assert "train 'made' again" in error.value.hint
