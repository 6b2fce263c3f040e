from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from embedlab.core.errors import MissingError
from embedlab.encoders.device import Machine
from embedlab.encoders.loading import load_encoder
from embedlab.models import hub
from embedlab.models.catalog import ModelSpec, resolve
from embedlab.models.hub import hub_folder
from embedlab.models.location import model_folder, pinned
from embedlab.models.published import CATALOG


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A downloaded repository in the hub's cache layout: pickled weights on main, converted ones in
    a pull request.
    """
    folder = tmp_path / "models--org--old"
    for revision, commit, weights in (
        ("main", "aaa", "pytorch_model.bin"),
        ("refs/pr/3", "bbb", "model.safetensors"),
    ):
        (folder / "snapshots" / commit).mkdir(parents=True)
        (folder / "snapshots" / commit / weights).touch()
        (folder / "refs" / revision).parent.mkdir(parents=True, exist_ok=True)
        (folder / "refs" / revision).write_text(commit)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub._snapshot_download.constants.HF_HUB_CACHE", str(tmp_path))
    return folder


def test_converted_weights_are_taken_where_main_has_only_pickled_ones(repository: Path) -> None:
    assert hub_folder("org/old", offline=True) == repository / "snapshots" / "bbb"


def test_a_stated_revision_is_used(repository: Path) -> None:
    assert hub_folder("org/old", "main", offline=True) == repository / "snapshots" / "aaa"


def test_online_the_hubs_own_converter_is_used(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    selected = []
    monkeypatch.setattr(hub, "is_reachable", lambda: True)
    monkeypatch.setattr(
        hub,
        "_snapshot",
        lambda name, revision, offline: (
            selected.append(revision) or repository / "snapshots" / "aaa"
        ),
    )
    offer = SimpleNamespace(git_reference="refs/pr/3")
    monkeypatch.setattr("huggingface_hub.get_repo_discussions", lambda *_, **__: iter([offer]))
    hub_folder("org/old")
    assert selected == ["main", "refs/pr/3"]


def test_a_hub_that_does_not_answer_gets_no_second_request_for_what_was_downloaded(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "is_reachable", lambda: False)
    monkeypatch.setattr("huggingface_hub.HfApi.repo_info", lambda *_, **__: pytest.fail("asked"))
    monkeypatch.setattr(
        "huggingface_hub.HfApi.list_repo_tree", lambda *_, **__: pytest.fail("asked")
    )
    assert hub_folder("org/old") == repository / "snapshots" / "bbb"
    with pytest.raises(
        MissingError, match="'org/new' is not on this machine, and the hub is out of reach"
    ):
        hub_folder("org/new", "0" * 40)


def test_a_local_folder_is_not_the_published_model_of_its_name(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("org/old").mkdir(parents=True)
    spec = ModelSpec(name="old", kind="hub", location="org/old", revision="main")
    assert model_folder(spec, offline=True) == repository / "snapshots" / "aaa"
    assert (
        model_folder(pinned(spec, offline=True), offline=True) == repository / "snapshots" / "aaa"
    )
    assert model_folder(replace(spec, kind="folder"), offline=True) == Path("org/old")


def test_a_published_name_loads_its_pinned_revision_with_its_prompt(
    small_bert: Path,
    sentences: list[str],
    cpu: Machine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    revision = CATALOG["e5-base-v2"].revision
    snapshots = tmp_path / "models--intfloat--e5-base-v2" / "snapshots"
    snapshots.mkdir(parents=True)
    (snapshots / str(revision)).symlink_to(small_bert)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub._snapshot_download.constants.HF_HUB_CACHE", str(tmp_path))
    by_name, by_folder = (
        load_encoder(
            pinned(resolve(name, tmp_path).members[0], offline=True), cpu, offline=True
        ).encode(sentences)
        for name in ("e5-base-v2", f'{small_bert}?prompt="query: "')
    )
    assert (by_name == by_folder).all()
