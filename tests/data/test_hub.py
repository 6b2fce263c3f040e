"""Whether the hub can be reached is checked once, and an unreachable hub is reported at once."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from embedlab.core.errors import MissingError
from embedlab.data import hub
from embedlab.data.source import Source


def test_an_unreachable_hub_is_tried_once_and_the_error_names_every_dataset(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    selected: list[str] = []

    def refuse(request: object, timeout: float) -> None:
        selected.append("asked")
        raise OSError

    monkeypatch.setattr("urllib.request.urlopen", refuse)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    hub.is_reachable.cache_clear()
    for name in ("sts12", "sts13"):
        with pytest.raises(MissingError, match=f"{name}.*cannot be reached") as caught:
            Source().open(name)
        assert "--data DIR" in caught.value.hint
    hub.is_reachable.cache_clear()
    assert selected == ["asked"]


@pytest.fixture
def local_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file in the working folder that has the name of a data set of the hub."""
    monkeypatch.chdir(tmp_path)
    file = Path("mteb/stsbenchmark-sts/test.parquet")
    file.parent.mkdir(parents=True)
    pl.DataFrame(
        {"sentence1": ["a"] * 1379, "sentence2": ["b"] * 1379, "score": [1.0] * 1379}
    ).write_parquet(file)
    return file


def test_a_local_folder_is_not_the_hubs_data_set(
    local_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "is_reachable", lambda: False)
    with pytest.raises(MissingError, match="cannot be reached"):
        Source().open("sts-benchmark", "test")
    monkeypatch.setattr(
        hub, "is_reachable", lambda: True
    )  # its client is offline and has nothing of this name in its cache
    with pytest.raises(MissingError, match="cannot get 'mteb/stsbenchmark-sts'"):
        Source().open("sts-benchmark", "test")


def test_rows_of_another_revision_from_the_clients_cache_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Loaded:
        cache_files = (
            {"filename": f"/cache/mteb___stsbenchmark-sts/default/0.0.0/{'0' * 40}/test.arrow"},
        )

    def load_dataset(*_: Any, **__: Any) -> Loaded:
        return Loaded()

    monkeypatch.setattr(hub, "is_reachable", lambda: True)
    monkeypatch.setattr("datasets.load_dataset", load_dataset)
    with pytest.raises(MissingError, match="at revision 00000000, not"):
        Source().open("sts-benchmark", "test")


@pytest.mark.parametrize("is_folder", [False, True])
@pytest.mark.parametrize(
    ("revision", "wanted"), [("faeb762787bd10488a50c8b5be4a3b82e411949c", True), ("", False)]
)
def test_rows_are_requested_at_their_revision_and_of_a_folder_outside_the_shared_cache(
    revision: str, wanted: bool, is_folder: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datasets

    requested: list[dict[str, Any]] = []

    def load(address: str, config: str | None, **words: Any) -> datasets.Dataset:
        place = words.pop("cache_dir")
        assert (place is not None) == words.pop("keep_in_memory") == is_folder
        assert not is_folder or Path(place).is_dir()
        requested.append({"config": config, **words})
        return datasets.Dataset.from_dict({"text": ["a", "b"]})

    monkeypatch.setattr(datasets, "load_dataset", load)
    repository = str(tmp_path) if is_folder else "owner/rows"
    found = hub._load(repository, "eng", "validation", revision, "a hint")
    assert found["text"].to_list() == ["a", "b"]
    expected = {
        "config": "eng",
        "split": "validation",
        "revision": revision if wanted else None,
        "trust_remote_code": False,
    }
    assert requested == [expected]
