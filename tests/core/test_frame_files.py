"""A path is never a pattern: one module reads files by path, and what is named is what is read."""

from pathlib import Path

import polars as pl
import pytest

from embedlab.core.frame_files import join_parquet, read_csv, read_foreign_parquet, read_parquet
from embedlab.runs.store import RunFolder, find_runs

PAIRS = {"sentence1": ["a b"] * 4, "sentence2": ["a c"] * 4}


@pytest.mark.parametrize("name", ["p[1]", "p*", "p?", "[a]/p{1,2}"])
def test_the_named_file_is_read_and_no_other(tmp_path: Path, name: str) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / name).parent.mkdir(exist_ok=True)
    other, named, joined = (tmp_path / f"{stem}.parquet" for stem in ("p1", name, f"{name}-joined"))
    for number, path in enumerate((other, named), start=1):
        frame = pl.DataFrame({"x": [number]})
        frame.write_parquet(path)
        frame.write_csv(path.with_suffix(".csv"))
    assert read_parquet(named)["x"].to_list() == [2]
    assert read_csv(named.with_suffix(".csv"))["x"].to_list() == [2]
    join_parquet([named, other], joined)
    assert read_parquet(joined)["x"].to_list() == [2, 1]


def test_runs_in_a_folder_with_brackets_are_found(tmp_path: Path) -> None:
    run = RunFolder.of(tmp_path / "runs[1]*?", "mine", 1)
    run.path.mkdir(parents=True)
    assert find_runs(tmp_path / "runs[1]*?") == [run]


def test_a_parquet_file_that_aborts_its_reader_ends_no_process(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.parquet"
    file.write_bytes(Path(__file__).with_name("aborts_its_reader.parquet").read_bytes())
    with pytest.raises(
        pl.exceptions.PolarsError
    ):  # an abort of polars 2.1, at least an error of any other
        read_foreign_parquet(file)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("code", [-6, -9, 1])
def test_a_file_that_breaks_its_reader_down_is_an_error(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.parquet"
    pl.DataFrame(PAIRS).write_parquet(file)
    monkeypatch.setattr("embedlab.core.frame_files.output_of_module", lambda *_: (code, ""))
    with pytest.raises(pl.exceptions.ComputeError, match="the reader crashes on it"):
        read_foreign_parquet(file)


def test_another_process_reads_a_foreign_file_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, started = tmp_path / "mine.parquet", []
    monkeypatch.setattr(
        "embedlab.core.frame_files.output_of_module",
        lambda *words: (started.append(words) or 0, ""),
    )
    for rows in (PAIRS, PAIRS, {**PAIRS, "sentence2": ["other"] * 4}, PAIRS):
        pl.DataFrame(rows).write_parquet(file)
        assert read_foreign_parquet(file).to_dict(as_series=False) == rows
    assert len(started) == 2  # two contents
