"""Everything that was stored before there was one store is read, counted and gone on with by the
one store.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from embedlab.analysis.named_selections import named_selections
from embedlab.analysis.pair_notes import PairNotes
from embedlab.comparison.stored_comparisons import COMPARISONS
from embedlab.core.seal import KEY, UNSEALED, seal
from embedlab.core.trust import trusted
from embedlab.encoders.texts import sentence_keys
from embedlab.experiments.plan import GridFolder, GridPlan
from embedlab.experiments.queue import Ending, Queue
from embedlab.outcomes.stored_links import LINKS
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.store import RunFolder
from embedlab.store.entries import EntryKind, Store
from embedlab.store.sealed import unverified_files
from embedlab.store.vectors import EmbeddingCache
from embedlab.training.token_store import TOKENS
from embedlab.tui.pair_table.saved_tables import PAIR_TABLES
from embedlab.tui.state import Memory
from tests.cli import conftest
from tests.cli.conftest import Embedlab
from tests.stores_of_before import CUT, NOTE, OPTIONS, PRINTED, SELECTION, unpack

embedlab = conftest.embedlab  # a fixture

CACHES: dict[str, EntryKind[Any]] = {
    "links": LINKS,
    "comparisons": COMPARISONS,
    "pairs": PAIR_TABLES,
    "tokens": TOKENS,
}
NUMBERS = ("slice", "model", "score", "items", "difference")


@pytest.fixture
def before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of then, as the working folder."""
    unpack(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMBEDLAB_CACHE", "cache")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


@pytest.mark.parametrize("name", PRINTED)
def test_stored_scores_and_answers_are_the_same_numbers(
    name: str, embedlab: Embedlab, before: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("load_plain", "load_cached"):
        monkeypatch.setattr(
            f"embedlab.encoders.loading.{place}", lambda *_, **__: pytest.fail("encoded again")
        )
    answer = embedlab(*PRINTED[name])
    assert answer.code == 0, answer.err
    rows = [
        [{key: row[key] for key in NUMBERS} for row in one["rows"]]
        for one in (answer.json, json.loads((before / name).read_text()))
    ]
    assert rows[0] == rows[1]
    assert len(rows[0]) > 1


@pytest.mark.parametrize("name", CACHES)
def test_an_entry_of_each_kind_is_got_and_stays(name: str, before: Path) -> None:
    kind, store = CACHES[name], Store(before / "cache")
    (path,) = (
        one for one in (before / "cache" / kind.folder).iterdir() if not one.name.startswith(".")
    )
    with unverified_files() as unverified:
        value = store.get(kind, path.stem)
    assert value is not None
    assert unverified == []
    again = store.put(kind, "again", value)
    old, new = (
        [one.stat().st_size for one in sorted(place.iterdir())] if place.is_dir() else []
        for place in (path, again)
    )
    assert old == new
    assert path.exists()


def test_vectors_are_found_and_all_is_counted(embedlab: Embedlab, before: Path) -> None:
    cache = EmbeddingCache.to_read(before / "cache" / "embeddings", "448864e4298d7355")
    assert cache is not None
    (segment, other) = cache.segments()
    known, _, _ = cache.find(segment.keys)
    assert known.all()
    assert len(segment.keys) + len(other.keys) > 100
    assert not cache.knows(sentence_keys(["a sentence that it has not read"])).any()
    rows = embedlab("cache", "ls", "--json").rows
    assert {row["kind"] for row in rows} == {
        "embeddings",
        "models",
        "tokens",
        "pairs",
        "comparisons",
        "similar-sentences",
    }
    assert embedlab("cache", "clear", "--yes").code == 0
    assert {path.name for path in (before / "cache").rglob("*") if path.is_file()} == {
        ".f152ee4340898b06f8546055.lock"
    }


def test_a_grid_half_done_goes_on(embedlab: Embedlab, before: Path) -> None:
    folder = GridFolder.of(before / "runs-sample", "rates")
    assert len(GridPlan.load(folder.plan_file)) == 2
    (note,) = embedlab("grid", "status", "rates", "--sample", "--json").json["notes"]
    assert note.startswith("1 done, 1 waiting")
    with Queue(folder.queue_file) as queue:
        left = queue.claim("me")
        assert left is not None
        assert left.run.startswith("rates.lr-0.003")
        assert queue.settle(left, Ending(state="done"), 1.0)
        assert not queue.is_open()
    with Queue(folder.queue_file) as queue:
        assert {entry.state for entry in queue.entries()} == {"done"}
    (done,) = (before / "runs-sample").glob("rates.lr-0.001.*/seed-1")
    assert len(Evaluation.load(RunFolder(done).evaluations / "geometry.json").scores) > 3


def test_an_interrupted_run_goes_on_and_a_finished_one_is_whole(
    embedlab: Embedlab, before: Path
) -> None:
    recipe = before / "runs-sample" / "cut" / "seed-1" / "recipe.toml"
    own_lines = (
        line for line in recipe.read_text().splitlines(keepends=True) if not line.startswith("# ")
    )
    moved = "".join(own_lines).replace(
        "/home/lab/project", str(before)
    )  # the encoder has moved with the runs
    recipe.write_bytes(seal(f"{moved}# {KEY}: {UNSEALED}\n".encode()))
    answer = embedlab("train", "snli-supcl", "--encoder", "tiny", *OPTIONS, *CUT, "--resume")
    assert answer.code == 0, answer.err
    assert "finished after 20 steps" in answer.err
    shown = embedlab("runs", "show", "whole@1", "--sample", "--json")
    assert shown.code == 0, shown.err
    assert RunFolder.of(before / "runs-sample", "whole", 1).environment().steps == 6


def test_what_the_user_has_written_is_there(before: Path) -> None:
    assert named_selections() == {"little": SELECTION}
    assert [note.note for note in PairNotes.load().notes.values()] == [NOTE]
    memory = Memory.load(sample=True)
    assert (memory.trouble, memory.state.theme, memory.state.mode) == (
        None,
        "textual-light",
        "compare",
    )
    assert len(trusted().files) == 1
