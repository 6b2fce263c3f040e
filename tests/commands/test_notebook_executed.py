"""A notebook as a user has it, executed by a kernel: tables, figures and bars, and no escape code
among them.
"""

from pathlib import Path
from typing import Any

import pytest

CELLS = [
    "import embedlab",
    'found = embedlab.compare(["dice", MODEL], tasks=["sts12", "sts13"], data="tiny", '
    "progress=True)\nfound",
    "found.plot()",
    "%matplotlib inline\nfound.plot('differences')",
    'embedlab.evaluate(MODEL, tasks=["sts12"], data="tiny", again=True, progress=True)',
    'embedlab.power("dice", MODEL, tasks=["sts12"], data="tiny").plot()',
    'embedlab.pairs("dice", tasks=["sts12"], data="tiny", limit=3)',
    'trained = embedlab.train("snli-ce", set=VALUES, name="small", data="tiny", threads=1, '
    "max_steps=2, progress=True)\ntrained",
    "trained.plot()",
]
VALUES = {"data.rows": 64, "optim.batch_size": 32, "evaluate.tasks": ["geometry"]}


@pytest.mark.slow
def test_a_notebook_shows_tables_figures_and_bars(
    tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nbclient = pytest.importorskip(
        "nbclient", reason="nbclient is not installed: pip install nbclient ipykernel"
    )
    pytest.importorskip(
        "ipykernel", reason="ipykernel is not installed: pip install nbclient ipykernel"
    )
    import nbformat

    monkeypatch.setenv("EMBEDLAB_CACHE", str(tmp_path / "cache"))
    book = nbformat.v4.new_notebook()
    book.cells = [
        nbformat.v4.new_code_cell(f"MODEL, VALUES = {str(tiny_encoder)!r}, {VALUES!r}"),
        *map(nbformat.v4.new_code_cell, CELLS),
    ]
    nbclient.NotebookClient(
        book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    outputs: list[list[dict[str, Any]]] = [cell.outputs for cell in book.cells[1:]]
    assert "\\x1b" not in repr(outputs)
    streams = [one["text"] for own in outputs for one in own if one["output_type"] == "stream"]
    assert all(
        "font cache" in text for text in streams
    )  # neither warnings nor bars of other programs; Matplotlib's first use says that
    outputs = [[one for one in own if one["output_type"] != "stream"] for own in outputs]
    shown = [own[-1]["data"] if own else {} for own in outputs]
    assert shown[1]["text/html"].count("<tr>") == 3
    assert "95% interval" in shown[1]["text/html"]
    assert [place for place, data in enumerate(shown) if "image/png" in data] == [2, 3, 5, 8]
    bars = [one["data"]["text/html"] for own in outputs for one in own[:-1]]
    assert bars == [""] * len(bars)  # shown while the work went on, then gone
    assert bars
