import re
from pathlib import Path

import pytest

from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.models.catalog import resolve, starting_location, trainable
from embedlab.models.published import CATALOG, NEEDING_CODE, packaged_model
from tests.encoders.opening import spec_of


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Finished runs `ours` (seeds 0, 1, 10), `other` (0, 1, 10), `odd` (1, 2), `sbert` (7);
    `started` and `simcse` are not finished.
    """
    folder = tmp_path / "runs"
    for name, seeds in {
        "ours": (0, 1, 10),
        "other": (0, 1, 10),
        "odd": (1, 2),
        "sbert": (7,),
    }.items():
        for seed in seeds:
            (folder / name / f"seed-{seed}" / "model").mkdir(parents=True)
    for name in ("started", "simcse"):
        (folder / name / "seed-0" / "checkpoints").mkdir(parents=True)
    return folder


def test_a_run_is_all_its_finished_seeds_in_order(runs: Path) -> None:
    (runs / "ours" / "seed-2").mkdir()
    members = resolve("ours", runs).members
    assert [(spec.name, spec.seed) for spec in members] == [
        ("ours@0", 0), ("ours@1", 1), ("ours@10", 10),
    ]  # fmt: skip
    assert {spec.kind for spec in members} == {"run"}
    assert members[2].location == str(runs / "ours" / "seed-10" / "model")
    assert [spec.seed for spec in resolve("ours@10", runs).members] == [10]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("ours@2", "0, 1, 10"),
        ("defsent@0", "not a finished run"),
        ("started", "'started' has no finished seed `embedlab runs resume started`"),
        ("average:ours,odd", "'ours' has the seeds 0, 1, 10 and 'odd' has 1, 2"),
        ("our", "no model named 'our'.* did you mean 'ours'?"),
        ("sbert-bert-bse", "no model named 'sbert-bert-bse'.* did you mean 'sbert-bert-base'"),
        ("dic", "no model named 'dic'.* did you mean 'dice'?"),
        ("ours,dice", "name them one by one: ours dice"),
        ("dice?pooling=mean", "takes no option 'pooling' write dice$"),
        ("bm25@layer=1", "takes no option 'layer' write bm25"),
        ("./nothing", "nothing"),
        ("/no/such/folder", "/no/such/folder"),
        ("word-vectors:nothing.txt", "nothing.txt"),
        *((name, f"code from its repository.* {other}") for name, other in NEEDING_CODE.items()),
    ],
)
def test_a_name_that_means_no_model_is_refused_with_what_to_type(
    name: str, says: str, runs: Path
) -> None:
    with pytest.raises(EmbedlabError) as refused:
        resolve(name, runs)
    assert re.search(says, f"{refused.value.message} {refused.value.hint}")


@pytest.mark.parametrize(
    ("name", "kind", "note"),
    [
        ("sbert", "run", "not the published checkpoint"),
        ("simcse", "hub", "not finished"),
    ],
)
def test_a_finished_run_wins_over_the_catalog_and_an_unfinished_one_leaves_its_name(
    name: str, kind: str, note: str, runs: Path
) -> None:
    (spec,) = resolve(name, runs).members
    assert spec.kind == kind
    assert note in str(spec.note)


def test_a_training_starts_from_one_transformer_in_the_revision_that_is_named(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, location in {
        "runs": str(runs),
        "ours@1": str(runs / "ours" / "seed-1" / "model"),
        "minilm?prompt=query": "minilm?prompt=query",
    }.items():
        assert starting_location(name, runs) == location
    (spec,) = resolve(starting_location("bert-base-uncased?revision=abc", runs), runs).members
    assert (spec.location, spec.revision) == ("google-bert/bert-base-uncased", "abc")
    assert len(trainable("ours", runs)) == 3
    for name, message in {
        "ours": "'ours' has 3 seeds",
        "average:ours,other": "not a transformer that can be trained",
        "org/model?pooling=cls": "the recipe sets 'pooling'",
    }.items():
        with pytest.raises(UsageError, match=message):
            starting_location(name, runs)


def test_folders_hub_ids_word_vectors_and_dice_resolve(tmp_path: Path) -> None:
    (tmp_path / "words.txt").touch()
    for name, kind in {
        str(tmp_path): "folder",
        "org/model": "hub",
        f"word-vectors:{tmp_path}/words.txt": "word-vectors",
        "dice": "dice",
    }.items():
        assert spec_of(name).kind == kind


def test_a_combination_matches_runs_by_seed_and_repeats_single_models(runs: Path) -> None:
    def parts(name: str) -> list[list[str]]:
        return [[part.name for part in spec.parts] for spec in resolve(name, runs).members]

    assert parts("average:ours,other,dice") == [
        [f"ours@{seed}", f"other@{seed}", "dice"] for seed in (0, 1, 10)
    ]
    assert parts("concat:ours@0,ours@1") == [["ours@0", "ours@1"]]
    nested = parts("average:org/model,concat(ours,other)")
    assert nested[0] == ["org/model", "concat(ours@0,other@0)"]


ROWS = "rows to evaluate on are in .tsv .csv .jsonl .parquet files: rename it, or convert it"


@pytest.mark.parametrize(
    ("file", "content", "hint"),
    [
        ("file.csv", b"sentence1,sentence2,cosine\n", "say what it holds: scores:{0}"),
        (
            "f.jsonl",
            b'{"sentence1": "a", "sentence2": "b", "x": 1}\n',
            "say what it holds: scores:",
        ),
        ("sub/f.parquet", b"PAR1\x15\x04", "say what it holds: scores:{0} or vectors:{0}"),
        ("file.npy", b"\x93NUMPY\x01\x00", "say what it holds: vectors:{0}"),
        ("file.json", b'{"task_name": "STS12", "scores": {}}', "say what it holds: mteb:{0}"),
        (
            "glove.txt",
            b"the 0.418 0.24968 -0.41242\nof 1 2 3\n",
            "say what it holds: word-vectors:",
        ),
        ("w2v.vec", b"3000000 300\nthe 0.1 0.2\n", "say what it holds: word-vectors:{0}"),
        ("sick.txt", b"pair_ID\tsentence_A\tsentence_B\n1\tA man\tA dog\n", ROWS),
        ("lines.txt", b"A man runs.\nA dog runs.\n", ROWS),
        ("rows.json", b'[{"sentence1": "a", "sentence2": "b"}]', ROWS),
        ("rows.csv.gz", b"\x1f\x8b\x08\x00", "it is compressed by gzip: unpack it, and name what"),
        ("rows.xlsx", b"PK\x03\x04", "it is a zip archive or a spreadsheet: unpack it, or save"),
        ("rows.jsonl", b'{"query": "a", "pos": ["b"]}\n', "these are rows: embedlab data check "),
        ("rows", b"", ROWS),
    ],
)
def test_a_file_gets_the_prefix_of_what_it_begins_like_and_no_other(
    file: str, content: bytes, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sub").mkdir()
    Path(file).write_bytes(content)
    with pytest.raises(UsageError, match="is a file, not a model") as caught:
        spec_of(file)
    assert caught.value.hint.startswith(hint.format(file))


def test_every_published_checkpoint_is_a_hub_id_with_the_pooling_its_name_says() -> None:
    for name, published in CATALOG.items():
        spec, model = spec_of(name), packaged_model(name)
        is_installed = model is not None and model.state == "installed"
        assert spec.kind == ("folder" if is_installed else "hub")
        assert is_installed or spec.location == published.repository
        if spec.location.startswith("cl-nagoya"):
            assert spec.location.endswith(f"-{spec.pooling}")
    assert {*NEEDING_CODE.values()} <= {*CATALOG}


def test_prompts_and_revisions_of_published_models_are_passed_on() -> None:
    revision = "1c644c92ad3ba1efdad3f1451a637716616a20e8"
    for name, expected in {
        "e5-base-v2": ("query: ", revision),
        "e5-base-v2?prompt=passage": ("passage: ", revision),
        'e5-base-v2?prompt="my: "&revision=main': ("my: ", "main"),
        "all-distilroberta-v1": (None, None),
        "intfloat/e5-base-v2": (None, None),  # by its id: as its folder states
    }.items():
        spec = spec_of(name)
        assert (spec.prompt, spec.revision) == expected
    # its folder names this one
    assert spec_of("embeddinggemma-300m?prompt=Clustering").prompt == "Clustering"
