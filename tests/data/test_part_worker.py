"""What a process writes of the scored pairs of plug-ins, so that others need not run these."""

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from embedlab.core.errors import MissingError
from embedlab.core.settings import Settings
from embedlab.data import part_worker
from embedlab.data.dataset import Dataset, DatasetKind, FileLayout, ParsedRows, Split
from embedlab.data.part_worker import INDEX, write_parts


def read(paths: Sequence[Path]) -> ParsedRows:
    scores = [float(line) for line in paths[0].read_text().split()]
    texts = [f"text {number}" for number in range(len(scores))]
    return ParsedRows(
        frame=pl.DataFrame(
            {"sentence1": texts, "sentence2": texts, "gold": scores, "source": "made"}
        )
    )


def made(name: str, kind: DatasetKind = "sts", split: str = "test") -> Dataset:
    layout = FileLayout(files=(f"{name}.txt",), read=read)
    splits = {split: Split(layouts=(layout,), expected=None)}
    return Dataset(
        name=name,
        kind=kind,
        summary="made",
        home="http://example.org",
        gold_range=(0.0, 4.0),
        splits=splits,
    )


def test_the_test_pairs_of_sound_plug_ins_are_written_and_what_cannot_be_read_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {
        one.name: one
        for one in (
            made("shipped"),
            made("mine"),
            made("texts", "sentences"),
            made("training", split="train"),
        )
    }
    plugins = [
        SimpleNamespace(
            name=name,
            is_shipped=name == "shipped",
            fault="broken" if name == "faulty" else None,
            identity="",
        )
        for name in ("shipped", "faulty", "gone", "mine", "texts", "training", "absent")
    ]

    def found(name: str) -> Dataset:
        if name not in {*known, "absent"}:
            raise MissingError(f"no {name}", reason="it is gone")
        return known.get(name) or made("absent")

    monkeypatch.setattr(part_worker.plugins, "discover", lambda _: plugins)
    monkeypatch.setattr(part_worker, "dataset", found)
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    out.mkdir()
    for name in known:
        (data / f"{name}.txt").write_text("1\n3.5\n")
    write_parts(Settings(data=data), out)
    gone, mine, absent = json.loads((out / INDEX).read_text())
    assert gone == {"name": "gone", "error": "it is gone"}
    assert (absent["name"], "absent.txt" in absent["error"]) == ("absent", True)
    assert {key: mine[key] for key in ("name", "gold_range", "files")} == {
        "name": "mine",
        "gold_range": [0.0, 4.0],
        "files": [str(data / "mine.txt")],
    }
    assert (mine["state"]["name"], mine["state"]["split"], mine["state"]["rows"]) == (
        "mine",
        "test",
        2,
    )
    assert pl.read_parquet(out / mine["rows"])["gold"].to_list() == [1.0, 3.5]
    assert sorted(path.name for path in out.iterdir()) == sorted([INDEX, mine["rows"]])
