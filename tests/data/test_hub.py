"""Whether the hub can be reached is checked once, and an unreachable hub is reported at once."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from embedlab.core.errors import MissingError
from embedlab.data import hub
from embedlab.data.dataset import HubSource
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


def test_a_local_folder_is_not_the_hubs_data_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mteb/stsbenchmark-sts").mkdir(parents=True)
    rows = pl.DataFrame({"sentence1": ["a"] * 1379, "sentence2": "b", "score": 1.0})
    rows.write_parquet("mteb/stsbenchmark-sts/test.parquet")
    # reachable, its client is offline and has nothing of this name in its cache
    for is_reachable, fault in ((False, "cannot be reached"), (True, "cannot get 'mteb/stsb")):
        monkeypatch.setattr(hub, "is_reachable", lambda found=is_reachable: found)
        with pytest.raises(MissingError, match=fault):
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


def test_a_split_without_a_column_that_is_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "load_split", lambda *_, **__: pl.DataFrame({"text": ["a"]}))
    source = HubSource(repository="owner/rows", revision="", columns={"sentence": "sentence"})
    with pytest.raises(MissingError, match="owner/rows has no column 'sentence': found text"):
        hub.read_hub(source, "sentences")
