"""What the cache folder holds."""

from pathlib import Path

from embedlab.workflows.cache import cache_state, clear_cache


def test_only_what_embedlab_stores_is_listed_and_deleted(tmp_path: Path) -> None:
    for name in ("embeddings/a/vectors", "models/b/sts.json", "tokens/.c.tmp-1/rows", "others/mine"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_bytes(b"x" * 2**20)
    state = cache_state(tmp_path)
    assert [(entry.kind, entry.path.name, entry.mib) for entry in state.entries] == [("embeddings", "a", 1.0), ("models", "b", 1.0)]
    assert state.mib == 2.0
    clear_cache(state)
    assert cache_state(tmp_path).entries == ()
    assert (tmp_path / "others/mine").exists()
    assert (tmp_path / "tokens/.c.tmp-1/rows").exists()
