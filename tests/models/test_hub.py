from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from embedlab.core.errors import MissingError
from embedlab.models import hub
from embedlab.models.catalog import ModelSpec
from embedlab.models.hub import hub_folder
from embedlab.models.location import model_folder, pin_snapshots


@pytest.fixture
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The hub's cache."""
    for module in ("constants", "_snapshot_download.constants"):
        monkeypatch.setattr(f"huggingface_hub.{module}.HF_HUB_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def repository(cached: Path) -> Path:
    """A downloaded repository in the hub's cache layout: pickled weights on main, converted ones in
    a pull request.
    """
    folder = cached / "models--org--old"
    for revision, commit, weights in (
        ("main", "aaa", "pytorch_model.bin"),
        ("refs/pr/3", "bbb", "model.safetensors"),
    ):
        (folder / "snapshots" / commit).mkdir(parents=True)
        (folder / "snapshots" / commit / weights).touch()
        (folder / "refs" / revision).parent.mkdir(parents=True, exist_ok=True)
        (folder / "refs" / revision).write_text(commit)
    return folder


def test_converted_weights_are_taken_where_main_has_only_pickled_ones(repository: Path) -> None:
    assert hub_folder("org/old", offline=True) == repository / "snapshots" / "bbb"
    assert hub_folder("org/old", "main", offline=True) == repository / "snapshots" / "aaa"


def test_online_the_hubs_own_converter_is_used(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Mock(return_value=repository / "snapshots" / "aaa")
    offer = Mock(git_reference="refs/pr/3")
    monkeypatch.setattr(hub, "is_reachable", lambda: True)
    monkeypatch.setattr(hub, "_snapshot", found)
    monkeypatch.setattr("huggingface_hub.get_repo_discussions", lambda *_, **__: iter([offer]))
    hub_folder("org/old")
    assert [call.args[1] for call in found.call_args_list] == ["main", "refs/pr/3"]


def test_a_hub_that_does_not_answer_gets_no_second_request_for_what_was_downloaded(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "is_reachable", lambda: False)
    for request in ("repo_info", "list_repo_tree"):
        monkeypatch.setattr(f"huggingface_hub.HfApi.{request}", None)
    assert hub_folder("org/old") == repository / "snapshots" / "bbb"
    with pytest.raises(MissingError, match="'org/new' is not on this machine, and the hub is out"):
        hub_folder("org/new", "0" * 40)


def test_a_local_folder_is_not_the_published_model_of_its_name(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("org/old").mkdir(parents=True)
    spec = ModelSpec(name="old", kind="hub", location="org/old", revision="main")
    for published in (spec, pin_snapshots(spec, offline=True)):
        assert model_folder(published, offline=True) == repository / "snapshots" / "aaa"
    assert model_folder(replace(spec, kind="folder"), offline=True) == Path("org/old")
