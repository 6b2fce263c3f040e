from pathlib import Path

import pytest

from embedlab.tui.completion import NamesAndFolders, completed_folder


@pytest.fixture
def models(tmp_path: Path) -> Path:
    for name in ("minilm/onnx", "mpnet", ".hidden"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "mini.txt").write_text("no folder")
    return tmp_path


async def test_names_come_first_and_paths_are_completed_folder_by_folder(models: Path) -> None:
    suggester = NamesAndFolders(["MiniLM", f"{models}-run"])
    assert await suggester.get_suggestion("min") == "miniLM"  # what was typed remains
    assert await suggester.get_suggestion(f"{models}/m") == f"{models}/minilm/"
    assert await suggester.get_suggestion(f"{models}/minilm/") == f"{models}/minilm/onnx/"
    assert await suggester.get_suggestion(f"mine={models}/mp") == f"mine={models}/mpnet/"
    assert await suggester.get_suggestion("xyz") is None
    assert await suggester.get_suggestion("") is None


def test_only_folders_are_offered_and_hidden_ones_when_their_dot_is_typed(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(models))
    monkeypatch.chdir(models)
    assert completed_folder("~/mp") == "~/mpnet/"
    assert completed_folder("./mp") == "./mpnet/"
    assert completed_folder(f"{models}/") == f"{models}/minilm/"
    assert completed_folder(f"{models}/.h") == f"{models}/.hidden/"
    assert completed_folder(f"{models}/mini.") is None
    assert completed_folder("/no such folder/x") is None
    assert completed_folder("mp") is None  # a name, not a path
