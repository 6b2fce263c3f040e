"""Nothing that is loaded may bring code along: every door says so, in the package, its tests and
its benchmarks.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOADERS = {"from_pretrained", "from_config", "load_dataset", "SentenceTransformer"}
DATA_ALONE = {
    "PeftConfig",
    "PeftModel",
    "StaticModel",
}  # load numbers and JSON, and know no option for code


def open_calls(text: str) -> Iterator[int]:
    """The lines of the calls in a program that load something and do not refuse the code that comes
    with it.
    """
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        name = (
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        )
        refused = any(
            item.arg == "trust_remote_code"
            and isinstance(item.value, ast.Constant)
            and item.value.value is False
            for item in node.keywords
        )
        owner = getattr(node.func.value, "id", "") if isinstance(node.func, ast.Attribute) else ""
        if name in LOADERS and owner not in DATA_ALONE and not refused:
            yield node.lineno


@pytest.mark.parametrize("folder", ["embedlab", "tests", "benchmarks"])
def test_every_call_that_loads_something_refuses_its_code(folder: str) -> None:
    programs = list((ROOT / folder).rglob("*.py"))
    assert len(programs) > 10
    assert [
        f"{path.relative_to(ROOT)}:{line}"
        for path in programs
        if (text := path.read_text(encoding="utf-8")) and any(name in text for name in LOADERS)
        for line in open_calls(text)
    ] == []
