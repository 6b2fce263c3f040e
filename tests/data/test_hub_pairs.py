"""Scored pairs of any dataset on the hub, read from small repositories in its own layout; the real
hub is never called.
"""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.data import hub, hub_pairs
from embedlab.data.file_name import is_pair_file
from embedlab.data.hub_pairs import parse_hub_name
from embedlab.data.source import Source

Repository = Callable[..., Path]
CARD = """---
configs:
- config_name: default
  data_files:
  - {split: test, path: data/test-*}
  - {split: validation, path: data/validation-*}
- config_name: old
  data_files:
  - {split: test, path: old/test-*}
---
# Pairs
"""
ROWS = {"question": ["a", "c"], "answer": ["b", "d"], "rating": [1.5, 4.0], "lang": ["en", "de"]}
NAMED = "s1=question&s2=answer&score=rating"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Writes a repository in the hub's layout: parquet files and a card that names splits and
    configurations.
    """

    def write(rows: dict[str, list[object]] | None = None) -> Path:
        folder = tmp_path / "repository"
        for place in ("data", "old"):
            (folder / place).mkdir(parents=True)
        rating = pl.String if rows and "high" in rows["rating"] else pl.Float64
        schema = {"question": pl.String, "answer": pl.String, "rating": rating, "lang": pl.String}
        pl.DataFrame(rows or ROWS, schema=schema).write_parquet(
            folder / "data/test-00000-of-00001.parquet"
        )
        for name in ("data/validation", "old/test"):
            pl.DataFrame({**ROWS, "rating": [0.0, 1.0]}).write_parquet(
                folder / f"{name}-00000-of-00001.parquet"
            )
        (folder / "README.md").write_text(CARD)
        return folder

    return write


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ("scale=0-5&source=lang", [("a", "b", 1.5, "en"), ("c", "d", 4.0, "de")]),
        ("split=validation", [("a", "b", 0.0, None), ("c", "d", 1.0, None)]),
        ("config=old", [("a", "b", 0.0, None), ("c", "d", 1.0, None)]),
        ("where=lang:de", [("c", "d", 4.0, None)]),
    ],
)
def test_a_copy_of_a_repository_is_read_by_what_is_named(
    options: str, rows: list[object], repository: Repository
) -> None:
    part = Source(offline=True).open(f"hub:{repository()}?{NAMED}&{options}")
    assert part.frame.rows() == rows
    assert (part.state.origin, part.state.revision) == ("hub", None)
    assert set(part.state.sha256) >= {"README.md", "data/test-00000-of-00001.parquet"}


def test_a_name_without_a_revision_is_read_at_the_commit_of_now(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datasets

    folder, commits = repository(), []

    def commit(name: str, revision: str) -> str:
        commits.append((name, revision))
        return "c" * 40

    monkeypatch.setattr(hub_pairs, "commit", commit)
    monkeypatch.setattr(hub, "is_reachable", lambda: True)
    load = datasets.load_dataset
    monkeypatch.setattr(
        datasets, "load_dataset", lambda _, *rest, **words: load(str(folder), *rest, **words)
    )
    hub._load_once.cache_clear()
    part = Source().open(f"hub:owner/pairs?{NAMED}")
    assert part.frame["gold"].to_list() == [1.5, 4.0]
    assert part.state.revision == f"owner/pairs@{'c' * 40}"
    Source().open(f"hub:owner/pairs?{NAMED}&revision=v2")
    assert commits == [("owner/pairs", "main"), ("owner/pairs", "v2")]
    hub._load_once.cache_clear()


def test_without_a_network_or_an_allowed_one_the_error_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hub, "is_reachable", lambda: False)
    hub.commit.cache_clear()
    with pytest.raises(
        MissingError, match="'owner/pairs' is on the hub, which cannot be reached"
    ) as caught:
        Source().open("hub:owner/pairs")
    assert "hub:FOLDER" in caught.value.hint
    with pytest.raises(MissingError, match="'hub:owner/pairs' is not read: embedlab is set"):
        Source(offline=True).open("hub:owner/pairs")


def test_an_unknown_repository_is_said_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import HfApi
    from huggingface_hub.errors import RepositoryNotFoundError

    def refuse(*_: object, **__: object) -> None:
        raise RepositoryNotFoundError.__new__(RepositoryNotFoundError)

    monkeypatch.setattr(hub, "is_reachable", lambda: True)
    monkeypatch.setattr(HfApi, "dataset_info", refuse)
    hub.commit.cache_clear()
    with pytest.raises(
        MissingError, match="'owner/nothing' from the hub: no such dataset"
    ) as caught:
        Source().open("hub:owner/nothing")
    assert "check the name" in caught.value.hint


@pytest.mark.parametrize(
    ("rows", "options", "fault"),
    [
        (
            ROWS,
            f"{NAMED}&source=genre",
            "has no column 'genre': found question, answer, rating, lang",
        ),
        (ROWS, f"{NAMED}&scale=0-1", "row 1: score is not from 0 to 1: 1.5"),
        (ROWS, f"{NAMED}&scale=0-10", "the scores are from 1.5 to 4, but scale is 0-10"),
        (ROWS, f"{NAMED}&split=dev", 'Unknown split "dev"'),
        (ROWS, f"{NAMED}&config=new", "BuilderConfig 'new' not found"),
        (ROWS, f"{NAMED}&where=lang:fr", "no row has 'fr' in lang"),
        ({**ROWS, "rating": ["1", "high"]}, NAMED, "row 2: score is not a number: 'high'"),
        ({**ROWS, "rating": [None, None]}, NAMED, "score is empty in every row"),
        ({key: [] for key in ROWS}, NAMED, "corresponds to no data"),
    ],
)
def test_what_cannot_be_read_is_one_line(
    rows: dict[str, list[object]], options: str, fault: str, repository: Repository
) -> None:
    with pytest.raises(EmbedlabError, match=fault) as caught:
        Source().open(f"hub:{repository(rows)}?{options}")
    assert "\n" not in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("hub:pairs", "'pairs' is not a dataset of the hub"),
        ("hub:a/b?language=en", "no option 'language=en'"),
        ("hub:a/b?split=", "no option 'split='"),
        ("hub:a/b?scale=5", "scale is '5'"),
        ("hub:a/b?where=en", "where is 'en'"),
    ],
)
def test_a_name_that_breaks_the_grammar_is_quoted(name: str, fault: str) -> None:
    assert is_pair_file(name)
    with pytest.raises(UsageError, match=fault):
        parse_hub_name(name)


def test_a_value_with_a_comma_is_one_value_where_rows_have_it(repository: Repository) -> None:
    folder = repository({**ROWS, "lang": ["en, us", "de"]})
    for where, texts in (("en, us", ["a"]), ("de,de", ["c"])):
        part = Source(offline=True).open(f"hub:{folder}?{NAMED}&where=lang:{where}")
        assert part.frame["sentence1"].to_list() == texts


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "git-lfs pointer"),
        (b"damaged", "cannot get"),
    ],
)
def test_a_file_of_a_copy_that_is_not_whole_has_nothing_to_do_with_the_network(
    content: bytes, fault: str, repository: Repository, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = repository()
    (folder / "data/test-00000-of-00001.parquet").write_bytes(content)
    with pytest.raises(MissingError, match=fault) as caught:
        Source().open(f"hub:{folder}?{NAMED}")
    assert "network" not in caught.value.hint
    assert capfd.readouterr().err == ""
