"""Checkpoints alone, without a training: what is stored, which are deleted, and which one a run
goes on from.
"""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from embedlab.core.disk import read_sealed_json, sealed_json, write_checksums
from embedlab.core.errors import MissingError
from embedlab.training.checkpointing import (
    STATE,
    Best,
    Checkpoints,
    Snapshot,
    write_tensors,
)
from embedlab.training.meter import Unreported

BEST = Best(score=50.0, step=2)


def snapshot(step: int, best: Best | None = None) -> Snapshot:
    """A checkpoint whose numbers are its step."""
    one = {"one": torch.full((2,), float(step))}
    return Snapshot(
        step=step,
        best=best,
        encoder=one,
        heads={"0.head": torch.arange(step + 1.0)},
        optimizer=one,
        random={"cpu": torch.get_rng_state()},
        unreported=Unreported(losses=(0.5, float(step)), steps=2),
        frozen_weights="abc",
    )


def best_model(step: int, score: float = 50.0) -> Snapshot:
    """The weights with the best dev score, whose numbers are a hundred and their step."""
    weights = {"one": torch.full((2,), 100.0 + step)}
    return Snapshot(
        step=step,
        best=Best(score=score, step=step),
        encoder=weights,
        heads=weights,
        frozen_weights="abc",
    )


def as_lists(stored: Snapshot) -> dict[str, object]:
    return {
        part: {name: tensor.tolist() for name, tensor in value.items()}
        if isinstance(value, dict)
        else value
        for part, value in vars(stored).items()
    }


def folders(checkpoints: Checkpoints) -> list[str]:
    return sorted(path.name for path in checkpoints.folder.iterdir())


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    return Checkpoints(tmp_path / "checkpoints")


def damage(checkpoints: Checkpoints, step: int) -> None:
    (checkpoints.path(step) / "encoder.safetensors").write_bytes(b"damaged")


def test_checkpoints_and_best_models_are_read_as_they_were_written(
    checkpoints: Checkpoints,
) -> None:
    for written in (snapshot(2, BEST), snapshot(3)):
        checkpoints.save(written)
        assert as_lists(checkpoints.read(written.step)) == as_lists(written)
    checkpoints.save_best(best_model(2))
    assert as_lists(checkpoints.read_best(BEST)) == as_lists(best_model(2))


def test_a_checkpoint_of_another_schema_or_step_is_refused(checkpoints: Checkpoints) -> None:
    snapshot(4).write(checkpoints.path(5))
    with pytest.raises(MissingError, match="it says step 4"):
        checkpoints.read(5)
    checkpoints.save(snapshot(3))
    state = checkpoints.path(3) / STATE
    values = read_sealed_json(state, hint="")
    assert values["schema"] == 2  # that of the runs that users have
    state.write_text(sealed_json({**values, "schema": 3}, indent=2), encoding="utf-8")
    write_checksums(checkpoints.path(3))
    with pytest.raises(MissingError, match=r"another embedlab \(schema 3\)"):
        checkpoints.read(3)


def test_steps_are_numbers_in_their_order_and_other_folders_are_none(
    checkpoints: Checkpoints,
) -> None:
    for name in ("step-0000010", "step-0000009", "step-12345678", "step-0000007.part", "other"):
        (checkpoints.folder / name).mkdir(parents=True)
    assert checkpoints.steps() == [9, 10, 12345678]


def test_later_checkpoints_that_were_skipped_as_damaged_are_deleted(
    checkpoints: Checkpoints,
) -> None:
    for step in (2, 4, 6):
        snapshot(step).write(checkpoints.path(step))
    checkpoints.save(snapshot(5))
    assert checkpoints.steps() == [4, 5]


def test_a_run_goes_on_from_the_newest_that_is_intact_and_fits_with_a_note_for_each_other(
    checkpoints: Checkpoints,
) -> None:
    for step in (2, 4, 6):
        snapshot(step).write(checkpoints.path(step))
    damage(checkpoints, 6)
    stored, notes = checkpoints.newest(
        lambda one: "it is of another run" if one.encoder["one"][0] == 4 else None
    )
    assert stored is not None
    assert stored.step == 2
    damaged, other = notes
    assert "step-0000006" in damaged
    assert "it is of another run; training goes on from step 2" in other
    _, notes = checkpoints.newest(lambda _: "it is of another run")
    assert all(note.endswith("; training starts from the beginning") for note in notes)


def found(checkpoints: Checkpoints, *, with_best: bool = True) -> tuple[int | None, int]:
    """The step that a run goes on from, and the number of notes."""
    stored, notes = checkpoints.newest(with_best=with_best)
    return None if stored is None else stored.step, len(notes)


def test_a_checkpoint_needs_the_best_model_that_it_names(checkpoints: Checkpoints) -> None:
    assert found(checkpoints) == (None, 0)
    snapshot(2, BEST).write(checkpoints.path(2))  # itself the best
    assert found(checkpoints) == (2, 0)
    snapshot(4, BEST).write(checkpoints.path(4))
    assert found(checkpoints, with_best=False) == (4, 0)
    assert found(checkpoints) == (2, 1)
    checkpoints.save_best(best_model(2))
    assert found(checkpoints) == (4, 0)
    snapshot(6).write(checkpoints.path(6))
    assert found(checkpoints) == (6, 0)


def test_a_best_model_of_another_run_is_not_gone_on_from(checkpoints: Checkpoints) -> None:
    def misfit(stored: Snapshot) -> str | None:
        return "it is another one" if stored.is_best_model else None

    checkpoints.save_best(best_model(2))
    checkpoints.save(snapshot(4, BEST))
    stored, (note,) = checkpoints.newest(misfit, with_best=True)
    assert stored is None
    assert "best-0000002' is damaged: it is another one" in note
    assert checkpoints.newest(misfit)[0] is not None


def test_best_models_go_when_no_checkpoint_names_them(checkpoints: Checkpoints) -> None:
    checkpoints.save_best(best_model(1))
    checkpoints.save(snapshot(2, Best(score=50.0, step=1)))
    checkpoints.save_best(best_model(3, 60.0))
    # a kill now: training goes on from step 2
    assert folders(checkpoints) == ["best-0000001", "best-0000003", "step-0000002"]
    checkpoints.save_best(best_model(4, 61.0))
    assert folders(checkpoints) == ["best-0000001", "best-0000004", "step-0000002"]
    checkpoints.save(snapshot(4, Best(score=61.0, step=4)))
    assert folders(checkpoints) == ["best-0000001", "best-0000004", "step-0000002", "step-0000004"]
    checkpoints.save(snapshot(6, Best(score=61.0, step=4)))
    assert folders(checkpoints) == ["best-0000004", "step-0000004", "step-0000006"]
    checkpoints.save(snapshot(8))
    checkpoints.save(snapshot(9))
    assert folders(checkpoints) == ["step-0000008", "step-0000009"]


def test_what_cannot_be_deleted_stops_no_training(checkpoints: Checkpoints) -> None:
    checkpoints.folder.mkdir()
    for name in ("step-0000001", "best-0000001"):
        (checkpoints.folder / name).write_text("a file, not a folder")
    for step in (2, 3, 4):
        checkpoints.save(snapshot(step))
    assert folders(checkpoints) == ["best-0000001", "step-0000001", "step-0000003", "step-0000004"]


def test_a_best_model_that_is_lost_or_of_another_score_is_refused(checkpoints: Checkpoints) -> None:
    with pytest.raises(MissingError, match="best-0000002"):
        checkpoints.read_best(BEST)
    checkpoints.save_best(best_model(2))
    with pytest.raises(MissingError, match=r"it says step 2 and dev score 50\.0"):
        checkpoints.read_best(Best(score=50.5, step=2))
    checkpoints.best_path(2).rename(checkpoints.best_path(3))
    with pytest.raises(MissingError, match=r"it says step 2 and dev score 50\.0"):
        checkpoints.read_best(Best(score=50.0, step=3))


def test_parameters_are_stored_whatever_their_layout(tmp_path: Path) -> None:
    parameter = nn.Parameter(torch.arange(6.0).reshape(2, 3))
    write_tensors(tmp_path / "one.safetensors", {"turned": parameter.T})
    assert load_file(tmp_path / "one.safetensors")["turned"].tolist() == parameter.T.tolist()
