"""What is remembered of a data folder."""

import json
from pathlib import Path

import pytest

from embedlab.tui.state import Memory


def test_two_dashboards_keep_what_each_changed(tmp_path: Path) -> None:
    path = tmp_path / "dashboard.json"
    first, second = Memory("data", path), Memory("data", path)
    first.set("models", ["minilm", "dice"])
    first.write()
    second.set("sort", "gap")
    second.set("theme", "nord", everywhere=True)
    second.write()
    again = Memory("data", path)
    assert again.get("models", []) == ["minilm", "dice"]
    assert again.get("sort", "") == "gap"
    assert again.get("theme", "", everywhere=True) == "nord"
    elsewhere = Memory("another", path)
    assert elsewhere.get("models", []) == []
    assert elsewhere.get("theme", "", everywhere=True) == "nord"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 1, "places": {}}'])
def test_a_damaged_file_is_said_and_set_aside(tmp_path: Path, content: str) -> None:
    path = tmp_path / "dashboard.json"
    path.write_text(content)
    memory = Memory("data", path)
    assert str(path) in str(memory.trouble)
    assert memory.get("models", []) == []
    memory.set("models", ["dice"])
    memory.write()
    again = Memory("data", path)
    assert (again.get("models", []), again.trouble) == (["dice"], None)
    assert path.with_suffix(".damaged.json").read_text() == content


def test_a_value_of_another_type_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "dashboard.json"
    memory = Memory("data", path)
    memory.set("sort", ["no", "text"])
    memory.write()
    assert Memory("data", path).get("sort", "file order") == "file order"
    assert json.loads(path.read_bytes())["version"] == 2
