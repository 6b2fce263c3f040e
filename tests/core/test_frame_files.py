"""A path is never a pattern: one module reads files by path, and what is named is what is read."""

import ast
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from embedlab.core.frame_files import join_parquet, read_csv, read_foreign_parquet, read_parquet
from embedlab.core.paths import PACKAGE
from embedlab.data.source import Source
from embedlab.runs.store import RunFolder, find_runs

DOOR = PACKAGE / "core" / "frame_files.py"
READERS = {
    f"{verb}_{kind}"
    for verb in ("read", "scan")
    for kind in ("csv", "parquet", "ndjson", "ipc", "json", "avro", "excel")
}
FROM_MEMORY = {
    "BytesIO",
    "StringIO",
    "encode",
    "read_bytes",
}  # the last call of what is read without a path

PAIRS = {"sentence1": ["a b"] * 4, "sentence2": ["a c"] * 4}


def _calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str, str]]:
    """Each call `owner.name(…)` in TREE; the owner is empty where it is more than a name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node, getattr(node.func.value, "id", ""), node.func.attr


def _is_in_memory(argument: ast.expr) -> bool:
    if isinstance(argument, ast.IfExp):
        return _is_in_memory(argument.body) and _is_in_memory(argument.orelse)
    if not isinstance(argument, ast.Call):
        return False
    return getattr(argument.func, "attr", getattr(argument.func, "id", "")) in FROM_MEMORY


def _is_fixed(pattern: ast.expr) -> bool:
    """Whether nothing that a user named is in a PATTERN: it is a text, or one made of the module's
    constants.
    """
    parts = pattern.values if isinstance(pattern, ast.JoinedStr) else [pattern]
    return all(
        isinstance(part, ast.Constant)
        or (isinstance(part, ast.FormattedValue) and ast.unparse(part.value).lstrip("_").isupper())
        for part in parts
    )


def _faults(file: Path) -> Iterator[str]:
    """What FILE does with a pattern, or with a path that polars would take for one."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    names = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    yield from (f"{file}: imports {name}" for name in names & {"glob", "fnmatch"})
    for call, owner, name in _calls(tree):
        if (
            owner in {"pl", "polars"}
            and name in READERS
            and file != DOOR
            and not _is_in_memory(call.args[0])
        ):
            yield f"{file}:{call.lineno}: read files through embedlab.core.frame_files"
        if name in {"glob", "rglob"} and not _is_fixed(call.args[0]):
            yield f"{file}:{call.lineno}: a name inside a pattern"


def test_no_path_is_taken_for_a_pattern() -> None:
    files = sorted(PACKAGE.rglob("*.py"))  # one test for all: a test each took ten times as long
    assert len(files) > 300
    assert [fault for file in files for fault in _faults(file)] == []


def test_the_rule_finds_what_it_forbids(tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    file.write_text(
        "import "
        "glob\npl.read_parquet(path)\npl.read_parquet(io.BytesIO(b''))\nfolder.glob(f'{name}*')\nfolder.glob('*')\n"
    )
    assert [fault.split(": ")[0] for fault in _faults(file)] == [
        f"{file}",
        f"{file}:2",
        f"{file}:4",
    ]
    assert not _is_in_memory(ast.parse("pl.read_parquet(path)", mode="eval").body.args[0])  # type: ignore[attr-defined]
    assert not _is_in_memory(ast.parse("f(path if x else y.encode())", mode="eval").body.args[0])  # type: ignore[attr-defined]
    assert not _is_fixed(ast.parse("f'{name}/seed-*'", mode="eval").body)
    assert _is_fixed(ast.parse("f'{TRAINING}/seed-*'", mode="eval").body)


@pytest.mark.parametrize("name", ["p[1]", "p*", "p?", "[a]/p{1,2}"])
def test_the_named_file_is_read_and_no_other(tmp_path: Path, name: str) -> None:
    other, path = tmp_path / "p1", tmp_path / name
    path.parent.mkdir(exist_ok=True)
    (tmp_path / "a").mkdir()
    pl.DataFrame({"x": [1]}).write_parquet(other.with_suffix(".parquet"))
    pl.DataFrame({"x": [2]}).write_parquet(path.with_name(f"{path.name}.parquet"))
    assert read_parquet(path.with_name(f"{path.name}.parquet"))["x"].to_list() == [2]
    path.with_name(f"{path.name}.csv").write_text("x\n2\n")
    other.with_suffix(".csv").write_text("x\n1\n")
    assert read_csv(path.with_name(f"{path.name}.csv"))["x"].to_list() == [2]
    out = path.with_name(f"out{path.name}.parquet")
    join_parquet([path.with_name(f"{path.name}.parquet"), other.with_suffix(".parquet")], out)
    assert read_parquet(out)["x"].to_list() == [2, 1]


@pytest.mark.parametrize("ending", ["parquet", "csv", "tsv", "jsonl"])
@pytest.mark.parametrize("name", ["p[1]", "p*", "p?"])
def test_a_pair_file_of_any_name_is_the_one_that_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, ending: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for stem, score in (("p1", 1.0), (name, 3.0)):
        frame, path = pl.DataFrame({**PAIRS, "score": [score] * 4}), Path(f"{stem}.{ending}")
        if ending == "parquet":
            frame.write_parquet(path)
        elif ending == "jsonl":
            path.write_text(frame.write_ndjson())
        else:
            path.write_text(frame.write_csv(separator="," if ending == "csv" else "\t"))
    part = Source().open(f"./{name}.{ending}")
    assert part.frame["gold"].to_list() == [3.0] * 4
    assert list(part.state.sha256) == [f"{name}.{ending}"]


def test_a_data_folder_in_brackets_is_the_one_that_is_read(tmp_path: Path) -> None:
    for folder, word in (("a", "wrong"), ("[a]", "right")):
        file = tmp_path / folder / "MultiNLI" / "multinli_1.0_dev_matched.jsonl"
        file.parent.mkdir(parents=True)
        file.write_text(f'{{"sentence1": "{word}", "sentence2": "x", "gold_label": "neutral"}}\n')
    part = Source(folder=tmp_path / "[a]", allow_partial=True).open("multinli", "dev-matched")
    assert part.frame["premise"].to_list() == ["right"]


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
    monkeypatch.setattr("embedlab.core.frame_files.run_module", lambda *_: code)
    with pytest.raises(pl.exceptions.ComputeError, match="its reader breaks down"):
        read_foreign_parquet(file)


def test_another_process_reads_a_foreign_file_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, started = tmp_path / "mine.parquet", []
    monkeypatch.setattr(
        "embedlab.core.frame_files.run_module", lambda *words: started.append(words) or 0
    )
    for rows in (PAIRS, PAIRS, {**PAIRS, "sentence2": ["other"] * 4}, PAIRS):
        pl.DataFrame(rows).write_parquet(file)
        assert read_foreign_parquet(file).to_dict(as_series=False) == rows
    assert len(started) == 2  # two contents


def test_the_process_that_reads_first_runs_no_code_of_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pl.DataFrame(PAIRS).write_parquet(tmp_path / "mine.parquet")
    (tmp_path / "random.py").write_text("open('ran', 'w')")
    monkeypatch.chdir(tmp_path)
    assert len(read_foreign_parquet(Path("mine.parquet"))) == 4
    assert not Path("ran").exists()
