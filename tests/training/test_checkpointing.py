"""Checkpoints alone, without a training: what is stored, which are deleted, and which one a run goes on from."""

from pathlib import Path

import pytest
import torch
from torch import nn

from embedlab.core.checksums import read_sealed_json, sealed_json, write_checksums
from embedlab.core.errors import MissingError
from embedlab.training.checkpointing import STATE, Best, Checkpoints, Snapshot, random_tensors, restore_random, write_tensors
from embedlab.training.meter import Unreported


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


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    return Checkpoints(tmp_path / "checkpoints")


def damage(checkpoints: Checkpoints, step: int) -> None:
    (checkpoints.path(step) / "encoder.safetensors").write_bytes(b"damaged")


@pytest.mark.parametrize("best", [None, Best(score=71.5, step=3)])
def test_a_checkpoint_is_read_as_it_was_written(best: Best | None, checkpoints: Checkpoints) -> None:
    written = snapshot(3, best)
    checkpoints.save(written)
    found = checkpoints.read(3)
    assert (found.step, found.best, found.unreported, found.frozen_weights) == (3, best, written.unreported, "abc")
    for part in ("encoder", "heads", "optimizer", "random"):
        stored = getattr(found, part)
        assert {name: tensor.tolist() for name, tensor in getattr(written, part).items()} == {
            name: tensor.tolist() for name, tensor in stored.items()
        }


def test_what_an_earlier_version_did_not_write_is_read_as_nothing(checkpoints: Checkpoints) -> None:
    checkpoints.save(snapshot(3))
    state = checkpoints.path(3) / STATE
    values = {key: value for key, value in read_sealed_json(state, hint="").items() if key not in {"unreported", "frozen_weights"}}
    state.write_text(sealed_json(values, indent=2), encoding="utf-8")
    write_checksums(checkpoints.path(3))
    assert checkpoints.read(3).unreported == Unreported()
    assert checkpoints.read(3).frozen_weights is None


def test_a_checkpoint_of_another_schema_is_refused(checkpoints: Checkpoints) -> None:
    checkpoints.save(snapshot(3))
    state = checkpoints.path(3) / STATE
    values = read_sealed_json(state, hint="")
    assert values["schema"] == 2  # that of the runs that users have
    state.write_text(sealed_json({**values, "schema": 3}, indent=2), encoding="utf-8")
    write_checksums(checkpoints.path(3))
    with pytest.raises(MissingError, match=r"another embedlab \(schema 3\)"):
        checkpoints.read(3)


def test_steps_are_numbers_in_their_order_and_other_folders_are_none(checkpoints: Checkpoints) -> None:
    for name in ("step-0000010", "step-0000009", "step-12345678", "step-0000007.part", "step-", "other"):
        (checkpoints.folder / name).mkdir(parents=True)
    assert checkpoints.steps() == [9, 10, 12345678]


def test_the_newest_and_the_one_before_it_are_stored(checkpoints: Checkpoints) -> None:
    for step in (2, 4, 9, 10):
        checkpoints.save(snapshot(step))
        assert checkpoints.steps()[-1] == step
    assert checkpoints.steps() == [9, 10]


def test_later_checkpoints_that_were_skipped_as_damaged_are_deleted(checkpoints: Checkpoints) -> None:
    for step in (2, 4, 6):
        snapshot(step).write(checkpoints.path(step))
    checkpoints.save(snapshot(5))
    assert checkpoints.steps() == [4, 5]


def test_a_run_goes_on_from_the_newest_that_is_intact_and_fits_with_a_note_for_each_other(checkpoints: Checkpoints) -> None:
    for step in (2, 4, 6):
        snapshot(step).write(checkpoints.path(step))
    damage(checkpoints, 6)
    found, notes = checkpoints.newest(lambda one: "it is of another run" if one.encoder["one"][0] == 4 else None)
    assert found is not None
    assert found.step == 2
    assert [("step-0000006" in note, "it is of another run" in note) for note in notes] == [(True, False), (False, True)]
    assert all(note.endswith("; training goes on from step 2") for note in notes)
    damage(checkpoints, 2)
    damage(checkpoints, 4)
    found, notes = checkpoints.newest()
    assert found is None
    assert len(notes) == 3
    assert all(note.endswith("; training starts from the beginning") for note in notes)


def test_without_a_checkpoint_there_is_nothing_to_say(checkpoints: Checkpoints) -> None:
    assert checkpoints.newest() == (None, [])


def test_a_checkpoint_whose_best_model_is_lost_counts_only_where_the_best_is_not_needed(checkpoints: Checkpoints) -> None:
    best = Best(score=50.0, step=2)
    snapshot(2, best).write(checkpoints.path(2))
    snapshot(4, best).write(checkpoints.path(4))
    for with_best in (False, True):
        found, notes = checkpoints.newest(with_best=with_best)
        assert found is not None
        assert (found.step, notes) == (4, [])
    damage(checkpoints, 2)
    found, _ = checkpoints.newest()
    assert found is not None
    assert found.step == 4
    found, notes = checkpoints.newest(with_best=True)
    assert found is None
    assert len(notes) == 2


def test_a_checkpoint_that_is_itself_the_best_needs_no_other(checkpoints: Checkpoints) -> None:
    snapshot(4, Best(score=50.0, step=4)).write(checkpoints.path(4))
    found, notes = checkpoints.newest(with_best=True)
    assert found is not None
    assert (found.step, notes) == (4, [])


def test_a_checkpoint_in_the_folder_of_another_step_is_refused(checkpoints: Checkpoints) -> None:
    snapshot(4).write(checkpoints.path(5))
    with pytest.raises(MissingError, match="it says step 4"):
        checkpoints.read(5)


def test_parameters_are_stored_whatever_their_layout(tmp_path: Path) -> None:
    from safetensors.torch import load_file

    parameter = nn.Parameter(torch.arange(6.0).reshape(2, 3))
    write_tensors(tmp_path / "one.safetensors", {"turned": parameter.T})
    assert load_file(tmp_path / "one.safetensors")["turned"].tolist() == parameter.T.tolist()


def test_a_generator_goes_on_as_it_was_and_another_device_keeps_its_own_state(monkeypatch: pytest.MonkeyPatch) -> None:
    states = random_tensors(torch.device("cpu"))
    expected = torch.rand(3)
    given: list[tuple[torch.Tensor, torch.device]] = []
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda *words: given.append(words))
    gpu = torch.device("cuda")
    for device in (torch.device("cpu"), gpu):
        restore_random(states, device)
        assert torch.rand(3).equal(expected)
    restore_random({**states, "cuda": expected}, torch.device("cpu"))
    assert given == []
    restore_random({**states, "cuda": expected}, gpu)
    assert given == [(expected, gpu)]
