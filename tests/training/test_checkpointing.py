"""Checkpoints alone, without a training: what is stored, which are deleted, and which one a run
goes on from.
"""

from pathlib import Path

import pytest
import torch
from torch import nn

from embedlab.core.disk import read_sealed_json, sealed_json, write_checksums
from embedlab.core.errors import MissingError
from embedlab.encoders.device import random_tensors, restore_random
from embedlab.training.checkpointing import (
    STATE,
    Best,
    Checkpoints,
    Snapshot,
    optimizer_tensors,
    restore_optimizer,
    write_tensors,
)
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


def best_model(step: int, score: float = 50.0) -> Snapshot:
    """The weights with the best dev score, whose numbers are a hundred and their step."""
    weights = {"one": torch.full((2,), 100.0 + step)}
    return Snapshot(
        step=step,
        is_best_model=True,
        best=Best(score=score, step=step),
        encoder=weights,
        heads={"0.head": weights["one"]},
        frozen_weights="abc",
    )


def folders(checkpoints: Checkpoints) -> list[str]:
    return sorted(path.name for path in checkpoints.folder.iterdir())


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    return Checkpoints(tmp_path / "checkpoints")


def damage(checkpoints: Checkpoints, step: int) -> None:
    (checkpoints.path(step) / "encoder.safetensors").write_bytes(b"damaged")


@pytest.mark.parametrize("best", [None, Best(score=71.5, step=3)])
def test_a_checkpoint_is_read_as_it_was_written(
    best: Best | None, checkpoints: Checkpoints
) -> None:
    written = snapshot(3, best)
    checkpoints.save(written)
    found = checkpoints.read(3)
    assert (found.step, found.best, found.unreported, found.frozen_weights) == (
        3,
        best,
        written.unreported,
        "abc",
    )
    for part in ("encoder", "heads", "optimizer", "random"):
        stored = getattr(found, part)
        assert {name: tensor.tolist() for name, tensor in getattr(written, part).items()} == {
            name: tensor.tolist() for name, tensor in stored.items()
        }


def test_a_checkpoint_of_another_schema_is_refused(checkpoints: Checkpoints) -> None:
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
    for name in (
        "step-0000010",
        "step-0000009",
        "step-12345678",
        "step-0000007.part",
        "step-",
        "other",
    ):
        (checkpoints.folder / name).mkdir(parents=True)
    assert checkpoints.steps() == [9, 10, 12345678]


def test_the_newest_and_the_one_before_it_are_stored(checkpoints: Checkpoints) -> None:
    for step in (2, 4, 9, 10):
        checkpoints.save(snapshot(step))
        assert checkpoints.steps()[-1] == step
    assert checkpoints.steps() == [9, 10]


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
    found, notes = checkpoints.newest(
        lambda one: "it is of another run" if one.encoder["one"][0] == 4 else None
    )
    assert found is not None
    assert found.step == 2
    assert [("step-0000006" in note, "it is of another run" in note) for note in notes] == [
        (True, False),
        (False, True),
    ]
    assert all(note.endswith("; training goes on from step 2") for note in notes)
    damage(checkpoints, 2)
    damage(checkpoints, 4)
    found, notes = checkpoints.newest()
    assert found is None
    assert len(notes) == 3
    assert all(note.endswith("; training starts from the beginning") for note in notes)


def test_without_a_checkpoint_there_is_nothing_to_say(checkpoints: Checkpoints) -> None:
    assert checkpoints.newest() == (None, [])


def test_a_checkpoint_whose_best_model_is_lost_counts_only_where_the_best_is_not_needed(
    checkpoints: Checkpoints,
) -> None:
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


@pytest.mark.parametrize("with_best", [False, True])
def test_a_checkpoint_without_a_best_model_needs_none(
    with_best: bool, checkpoints: Checkpoints
) -> None:
    checkpoints.save(snapshot(2))
    checkpoints.save(snapshot(4))
    found, notes = checkpoints.newest(with_best=with_best)
    assert found is not None
    assert (found.step, notes) == (4, [])


def test_a_best_model_of_another_run_is_not_gone_on_from(checkpoints: Checkpoints) -> None:
    checkpoints.save_best(best_model(2))
    checkpoints.save(snapshot(4, Best(score=50.0, step=2)))
    found, notes = checkpoints.newest(
        lambda one: "it is another one" if one.is_best_model else None, with_best=True
    )
    assert found is None
    assert len(notes) == 1
    assert "best-0000002" in notes[0]
    assert (
        checkpoints.newest(lambda one: "it is another one" if one.is_best_model else None)[0]
        is not None
    )


def test_a_checkpoint_goes_though_the_best_model_of_its_step_stays(
    checkpoints: Checkpoints,
) -> None:
    checkpoints.save_best(best_model(2))
    for step in (2, 4, 6):
        checkpoints.save(snapshot(step, Best(score=50.0, step=2)))
    assert folders(checkpoints) == ["best-0000002", "step-0000004", "step-0000006"]


def test_a_checkpoint_that_is_the_only_copy_of_the_best_model_stays(
    checkpoints: Checkpoints,
) -> None:
    """Earlier versions wrote no folders of best models."""
    for step in (2, 4, 6):
        checkpoints.save(snapshot(step, Best(score=50.0, step=2)))
    assert folders(checkpoints) == ["step-0000002", "step-0000004", "step-0000006"]


def test_best_models_go_when_no_checkpoint_names_them(checkpoints: Checkpoints) -> None:
    checkpoints.save_best(best_model(1))
    checkpoints.save(snapshot(2, Best(score=50.0, step=1)))
    checkpoints.save_best(best_model(3, 60.0))
    assert folders(checkpoints) == [
        "best-0000001",
        "best-0000003",
        "step-0000002",
    ]  # a kill now: training goes on from step 2
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


def test_the_best_model_is_read_as_it_was_written(checkpoints: Checkpoints) -> None:
    checkpoints.save(snapshot(2))  # other weights after the same step
    checkpoints.save_best(best_model(2))
    found = checkpoints.read_best(Best(score=50.0, step=2))
    assert found.is_best_model
    assert (found.best, found.frozen_weights) == (Best(score=50.0, step=2), "abc")
    assert {name: one.tolist() for name, one in (found.encoder | found.heads).items()} == {
        "one": [102, 102],
        "0.head": [102, 102],
    }
    with pytest.raises(MissingError, match="it is of another run"):
        checkpoints.read_best(Best(score=50.0, step=2), lambda _: "it is of another run")


def test_a_checkpoint_takes_the_place_of_a_best_model_that_was_not_written(
    checkpoints: Checkpoints,
) -> None:
    checkpoints.save(snapshot(2))
    found = checkpoints.read_best(Best(score=50.0, step=2))
    assert found.encoder["one"].tolist() == [2, 2]
    with pytest.raises(MissingError, match="it is of another run"):
        checkpoints.read_best(Best(score=50.0, step=2), lambda _: "it is of another run")


def test_a_best_model_that_is_lost_or_of_another_score_is_refused(checkpoints: Checkpoints) -> None:
    with pytest.raises(MissingError, match="best-0000002"):
        checkpoints.read_best(Best(score=50.0, step=2))
    checkpoints.save_best(best_model(2))
    for other in (Best(score=50.5, step=2), Best(score=50.0, step=3)):
        (checkpoints.best_path(2)).rename(
            checkpoints.best_path(other.step)
        ) if other.step == 3 else None
        with pytest.raises(MissingError, match=r"it says step 2 and dev score 50\.0"):
            checkpoints.read_best(other)


def test_a_checkpoint_in_the_folder_of_another_step_is_refused(checkpoints: Checkpoints) -> None:
    snapshot(4).write(checkpoints.path(5))
    with pytest.raises(MissingError, match="it says step 4") as error:
        checkpoints.read(5)
    assert (
        error.value.hint
        == "the same command with --resume goes on from another checkpoint, or from the beginning"
    )


def test_parameters_are_stored_whatever_their_layout(tmp_path: Path) -> None:
    from safetensors.torch import load_file

    parameter = nn.Parameter(torch.arange(6.0).reshape(2, 3))
    write_tensors(tmp_path / "one.safetensors", {"turned": parameter.T})
    assert load_file(tmp_path / "one.safetensors")["turned"].tolist() == parameter.T.tolist()


def test_a_generator_goes_on_as_it_was_and_another_device_keeps_its_own_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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


@pytest.mark.parametrize("mode", [0o700, 0o750, 0o755, 0o775])
def test_tensors_can_be_read_by_whoever_can_read_their_folder(mode: int, tmp_path: Path) -> None:
    tmp_path.chmod(mode)
    write_tensors(tmp_path / "one.safetensors", {"one": torch.zeros(2)})
    assert (tmp_path / "one.safetensors").stat().st_mode & 0o777 == mode & 0o666


def test_an_optimizer_goes_on_as_it_was() -> None:
    def stepped(parameter: nn.Parameter, optimizer: torch.optim.Optimizer) -> None:
        parameter.grad = torch.tensor([0.5, -1.0])
        optimizer.step()

    one, idle = nn.Parameter(torch.tensor([1.0, 2.0])), nn.Parameter(torch.zeros(1))
    first = torch.optim.AdamW([one, idle], lr=0.1)
    stepped(one, first)
    stored = optimizer_tensors(first, {"0.head.one": one, "idle": idle})
    assert sorted(stored) == ["0.head.one.exp_avg", "0.head.one.exp_avg_sq", "0.head.one.step"]
    other = nn.Parameter(one.detach().clone())
    second = torch.optim.AdamW([other], lr=0.1)
    restore_optimizer(
        second, {"0.head.one": other}, {name: value.clone() for name, value in stored.items()}
    )
    for parameter, optimizer in ((one, first), (other, second)):
        stepped(parameter, optimizer)
    assert one.tolist() == other.tolist()


@pytest.mark.parametrize("file", ["encoder.safetensors", "heads.safetensors", "state.json"])
@pytest.mark.parametrize("kind", ["checkpoint", "best model"])
def test_one_changed_byte_is_noticed_though_the_file_can_still_be_read(
    kind: str, file: str, checkpoints: Checkpoints
) -> None:
    best = Best(score=50.0, step=2)
    checkpoints.save_best(best_model(2)) if kind == "best model" else checkpoints.save(snapshot(2))
    path = (checkpoints.best_path(2) if kind == "best model" else checkpoints.path(2)) / file
    content = bytearray(path.read_bytes())
    content[-1] ^= 1 if file != "state.json" else 0
    path.write_bytes(
        content.replace(b'"step": 2', b'"step": 3') if file == "state.json" else content
    )
    with pytest.raises(MissingError, match=r"-0000002"):
        checkpoints.read_best(best) if kind == "best model" else checkpoints.read(2)


@pytest.mark.parametrize("kind", ["checkpoint", "best model"])
def test_the_checksums_of_a_folder_are_of_all_its_files(
    kind: str, checkpoints: Checkpoints
) -> None:
    checkpoints.save_best(best_model(2)) if kind == "best model" else checkpoints.save(snapshot(2))
    folder = checkpoints.best_path(2) if kind == "best model" else checkpoints.path(2)
    parts = (
        ("encoder", "heads")
        if kind == "best model"
        else ("encoder", "heads", "optimizer", "random")
    )
    assert {path.name for path in folder.iterdir()} == {
        *(f"{name}.safetensors" for name in parts),
        "state.json",
        "checksums.json",
    }
    (folder / "encoder.safetensors").write_bytes(
        (folder / "heads.safetensors").read_bytes()
    )  # whole, and of the other part
    with pytest.raises(MissingError, match=r"encoder\.safetensors"):
        checkpoints.read_best(
            Best(score=50.0, step=2)
        ) if kind == "best model" else checkpoints.read(2)
