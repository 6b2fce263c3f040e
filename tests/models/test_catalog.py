from pathlib import Path

import pytest

from embedlab.core.errors import MissingError, UsageError
from embedlab.models.catalog import model_names, resolve, starting_location, trainable
from embedlab.models.published import CATALOG, NEEDING_CODE, packaged


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Finished runs `ours` (seeds 0, 1, 10), `other` (0, 1, 10), `odd` (1, 2), `sbert` (7);
    `started` and `simcse` are not finished.
    """
    folder = tmp_path / "runs"
    for name, seeds in (
        ("ours", (0, 1, 10)),
        ("other", (0, 1, 10)),
        ("odd", (1, 2)),
        ("sbert", (7,)),
    ):
        for seed in seeds:
            (folder / name / f"seed-{seed}" / "model").mkdir(parents=True)
    for name in ("started", "simcse"):
        (folder / name / "seed-0" / "checkpoints").mkdir(parents=True)
    return folder


def test_a_run_is_all_its_finished_seeds_in_order(runs: Path) -> None:
    (runs / "ours" / "seed-2").mkdir()
    model = resolve("ours", runs)
    assert [(spec.name, spec.kind, spec.seed) for spec in model.members] == [
        ("ours@0", "run", 0),
        ("ours@1", "run", 1),
        ("ours@10", "run", 10),
    ]
    assert model.members[2].location == str(runs / "ours" / "seed-10" / "model")


def test_one_seed_is_named_by_its_value(runs: Path) -> None:
    assert [spec.seed for spec in resolve("ours@10", runs).members] == [10]
    with pytest.raises(UsageError, match="0, 1, 10"):
        resolve("ours@2", runs)
    with pytest.raises(UsageError, match="not a finished run"):
        resolve("defsent@0", runs)


def test_a_finished_run_wins_over_the_catalog_and_says_so(runs: Path) -> None:
    (spec,) = resolve("sbert", runs).members
    assert spec.kind == "run"
    assert "not the published checkpoint" in str(spec.note)


def test_an_unfinished_run_leaves_the_catalog_name_and_says_so(runs: Path) -> None:
    (spec,) = resolve("simcse", runs).members
    assert (spec.kind, spec.location) == ("hub", "princeton-nlp/sup-simcse-bert-base-uncased")
    assert "not finished" in str(spec.note)


def test_a_run_without_a_finished_seed_is_missing(runs: Path) -> None:
    with pytest.raises(MissingError, match="'started' has no finished seed"):
        resolve("started", runs)


def test_a_training_starts_from_one_transformer_in_the_revision_that_is_named(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert starting_location("runs", runs) == str(runs)
    assert starting_location("ours@1", runs) == str(runs / "ours" / "seed-1" / "model")
    (spec,) = resolve(starting_location("bert-base-uncased?revision=abc", runs), runs).members
    assert (spec.location, spec.revision) == ("google-bert/bert-base-uncased", "abc")
    assert len(trainable("ours", runs)) == 3
    for name, message in (
        ("ours", "'ours' has 3 seeds"),
        ("average:ours,other", "not a transformer that can be trained"),
        ("org/model?pooling=cls", "the recipe sets the pooling"),
    ):
        with pytest.raises(UsageError, match=message):
            starting_location(name, runs)


def test_folders_hub_ids_word_vectors_and_dice_resolve(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "words.txt").touch()
    kinds = {
        name: resolve(name, runs).members[0].kind
        for name in (str(tmp_path), "org/model", f"word-vectors:{tmp_path}/words.txt", "dice")
    }
    assert list(kinds.values()) == ["folder", "hub", "word-vectors", "dice"]


def test_a_combination_matches_runs_by_seed_and_repeats_single_models(runs: Path) -> None:
    model = resolve("average:ours,other,dice", runs)
    assert [spec.seed for spec in model.members] == [0, 1, 10]
    assert [[part.name for part in spec.parts] for spec in model.members][2] == [
        "ours@10",
        "other@10",
        "dice",
    ]
    assert [part.name for part in resolve("concat:ours@0,ours@1", runs).members[0].parts] == [
        "ours@0",
        "ours@1",
    ]
    nested = resolve("average:org/model,concat(ours,other)", runs).members
    assert [part.name for part in nested[0].parts] == ["org/model", "concat(ours@0,other@0)"]


def test_seeds_that_do_not_match_are_one_clear_error(runs: Path) -> None:
    with pytest.raises(
        UsageError, match="'ours' has the seeds 0, 1, 10 and 'odd' has 1, 2"
    ) as caught:
        resolve("average:ours,odd", runs)
    assert "ours@0" in caught.value.hint


@pytest.mark.parametrize(
    ("file", "content", "hint"),
    [
        ("file.csv", b"sentence1,sentence2,cosine\n", "scores:{}"),
        ("file.jsonl", b'{"sentence1": "a", "sentence2": "b", "x": 1}\n', "scores:{}"),
        ("file.parquet", b"PAR1\x15\x04", "scores:{} or vectors:{}"),
        ("file.npy", b"\x93NUMPY\x01\x00", "vectors:{}"),
        ("file.json", b'{"task_name": "STS12", "scores": {}}', "mteb:{}"),
        ("glove.txt", b"the 0.418 0.24968 -0.41242\nof 1 2 3\n", "word-vectors:{}"),
        ("w2v.vec", b"3000000 300\nthe 0.1 0.2\n", "word-vectors:{}"),
        ("sick.txt", b"pair_ID\tsentence_A\tsentence_B\n1\tA man\tA dog\n", ""),
        ("lines.txt", b"A man runs.\nA dog runs.\n", ""),
        ("rows.json", b'[{"sentence1": "a", "sentence2": "b"}]', ""),
        ("rows.csv.gz", b"\x1f\x8b\x08\x00", "it is compressed by gzip: unpack it, and name what"),
        ("rows.xlsx", b"PK\x03\x04", "it is a zip archive or a spreadsheet: unpack it, or save"),
        ("rows.jsonl", b'{"query": "a", "pos": ["b"]}\n', "these are rows: embedlab data check "),
        ("rows", b"", ""),
    ],
)
@pytest.mark.parametrize("typed", ["{}", "sub/{}"])
def test_a_file_gets_the_prefix_of_what_it_begins_like_and_no_other(
    file: str,
    content: bytes,
    hint: str,
    typed: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    name = typed.format(file)
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_bytes(content)
    with pytest.raises(UsageError, match="is a file, not a model") as caught:
        resolve(name, tmp_path / "runs")
    rows = "rows to evaluate on are in .tsv .csv .jsonl .parquet files: rename it, or convert it"
    expected = f"say what it holds: {hint.format(name, name)}" if "{}" in hint else hint or rows
    assert str(caught.value.hint).startswith(expected)


def test_an_unknown_name_gets_the_nearest_of_runs_and_catalog(runs: Path) -> None:
    for wrong, right in (("our", "ours"), ("sbert-bert-bse", "sbert-bert-base"), ("dic", "dice")):
        with pytest.raises(UsageError, match=f"no model named '{wrong}'") as caught:
            resolve(wrong, runs)
        assert f"did you mean {right!r}?" in caught.value.hint


def test_models_with_commas_between_them_are_refused_with_what_to_type(runs: Path) -> None:
    with pytest.raises(UsageError) as refused:
        resolve("ours,dice", runs)
    assert "name them one by one: ours dice" in refused.value.hint


@pytest.mark.parametrize("name", ["./nothing", "/no/such/folder", "word-vectors:nothing.txt"])
def test_a_path_that_is_not_there_is_missing(runs: Path, name: str) -> None:
    with pytest.raises(MissingError):
        resolve(name, runs)


def test_dice_takes_no_options(runs: Path) -> None:
    with pytest.raises(UsageError, match="takes no option"):
        resolve("dice?pooling=mean", runs)


@pytest.mark.parametrize("name", CATALOG)
def test_every_published_checkpoint_is_a_hub_id_with_the_pooling_its_name_says(
    name: str, tmp_path: Path
) -> None:
    (spec,) = resolve(name, tmp_path).members
    if (model := packaged(name)) is not None and model.state == "installed":
        assert spec.kind == "folder"
        return
    assert spec.kind == "hub"
    assert spec.location == CATALOG[name].repository
    if spec.location.startswith("cl-nagoya"):
        assert spec.location.endswith(f"-{spec.pooling}")


def test_prompts_and_revisions_of_published_models_are_passed_on(tmp_path: Path) -> None:
    def resolved(name: str) -> tuple[str, str | None, str | None]:
        (spec,) = resolve(name, tmp_path).members
        return spec.location, spec.prompt, spec.revision

    assert resolved("e5-base-v2") == (
        "intfloat/e5-base-v2",
        "query: ",
        "1c644c92ad3ba1efdad3f1451a637716616a20e8",
    )
    assert resolved("e5-base-v2?prompt=passage")[1] == "passage: "
    assert resolved('e5-base-v2?prompt="my: "&revision=main')[1:] == ("my: ", "main")
    assert (
        resolved("embeddinggemma-300m?prompt=Clustering")[1] == "Clustering"
    )  # its folder names this one
    assert resolved("all-distilroberta-v1")[1:] == (None, None)
    assert resolved("intfloat/e5-base-v2")[1:] == (None, None)  # by its id: as its folder states


@pytest.mark.parametrize(("name", "instead"), NEEDING_CODE.items())
def test_a_model_with_code_of_its_own_is_refused_by_name(
    name: str, instead: str, tmp_path: Path
) -> None:
    with pytest.raises(
        UsageError, match="code from its repository, which embedlab does not run"
    ) as caught:
        resolve(name, tmp_path)
    assert instead in caught.value.hint
    assert instead in CATALOG


def test_names_are_listed_without_a_runs_folder(tmp_path: Path) -> None:
    assert {"sbert", "defsent", "simcse", "dice"} <= set(model_names(tmp_path / "none"))
