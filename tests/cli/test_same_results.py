"""`embedlab same` of two results, and the signatures that it compares: the same on every path, and
changed by whatever changes a number.
"""

import json
import random
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from embedlab.encoders.random_encoder import build_random_encoder
from embedlab.runs.store import RunFolder
from tests.cli.conftest import Answer, Embedlab
from tests.stored_scores import begin_run

pytestmark = pytest.mark.usefixtures("quick_fits")
WORDS = [
    "a",
    "cat",
    "dog",
    "man",
    "woman",
    "runs",
    "eats",
    "plays",
    "the",
    "guitar",
    "ball",
    "park",
    "big",
    "small",
    "red",
]


def write_pairs(path: Path, rows: int = 40) -> None:
    draw = random.Random(1)
    sentences = [" ".join(draw.choices(WORDS, k=6)) for _ in range(5 * rows)]  # few pairs share one
    lines = [
        "\t".join([*draw.choices(sentences, k=2), str(draw.randint(0, 5)), ("web", "news")[n % 2]])
        for n in range(rows)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["sentence1\tsentence2\tscore\tsource", *lines]) + "\n")


@pytest.fixture(autouse=True)
def _world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs of the user's own, and a cache of this test."""
    monkeypatch.setenv("EMBEDLAB_CACHE", str(tmp_path / "cache"))
    write_pairs(tmp_path / "mine.tsv")


@pytest.fixture
def model(tiny_encoder: Path, tmp_path: Path) -> str:
    shutil.copytree(tiny_encoder, tmp_path / "tiny")
    return "./tiny"


@pytest.fixture
def recipe_of_two_seeds(finished_run: RunFolder) -> str:
    """The name of a finished run of two seeds, trained in bf16."""
    recipe = finished_run.recipe()
    shutil.rmtree(finished_run.path.parent)
    for seed in (1, 2):
        run = RunFolder(finished_run.path.with_name(f"seed-{seed}"))
        begin_run(run, recipe, precision="bf16")
        build_random_encoder(run.model, seed=seed)
    return "mine"


def save(answer: Answer, path: str) -> str:
    assert answer.code == 0, answer.err
    Path(path).write_text(answer.out)
    return path


def signature_of(answer: Answer) -> dict[str, str]:
    """The parts of the only signature in an answer."""
    assert answer.code == 0, answer.err
    (line,) = answer.json["signatures"].values()
    return dict(part.split(":", 1) for part in line.split("|"))


def changed(first: Mapping[str, str], second: Mapping[str, str]) -> set[str]:
    return {name for name in first if first[name] != second[name]}


def cells(answer: Answer) -> dict[str, tuple[Any, Any]]:
    return {row["what"]: (row["first"], row["second"]) for row in answer.rows}


def test_another_pooling_is_another_thing_and_the_difference_has_the_interval_of_compare(
    embedlab: Embedlab, model: str
) -> None:
    other = f"{model}?pooling=cls"
    first, second = (
        save(embedlab("evaluate", one, "--task", "mine.tsv", "--json"), f"{n}.json")
        for n, one in enumerate((model, other))
    )
    answer = embedlab("same", first, second, "--json")
    assert answer.code == 4
    assert (
        "not of the same thing: model, pooling differ; 3 of 3 scores differ" in answer.json["title"]
    )
    assert cells(answer)["pooling"] == ("mean", "cls")
    compared = embedlab("compare", model, other, "--task", "mine.tsv", "--json")
    one, two = compared.row(model=model), compared.row(model=other)
    row = next(row for row in answer.rows if row["what"] == "mine.tsv spearman all")
    assert (row["first"], row["second"]) == (one["score"], two["score"])
    wanted = [two[key] for key in ("difference", "difference_low", "difference_high")]
    assert [row["difference"], row["low"], row["high"]] == pytest.approx(wanted)
    shown = f"{row['difference']:+.2f} [{row['low']:+.2f}, {row['high']:+.2f}]"
    assert shown in embedlab("same", first, second).out


@pytest.mark.usefixtures("small_world")
def test_the_signature_is_the_same_now_from_stored_scores_from_the_file_of_the_run_and_in_compare(
    embedlab: Embedlab, recipe_of_two_seeds: str, tmp_path: Path
) -> None:
    seed = f"{recipe_of_two_seeds}@1"
    options = ["--data", "tiny", "--runs", str(tmp_path / "runs"), "--json"]
    now = save(embedlab("evaluate", seed, *options), "now.json")
    later = embedlab("evaluate", seed, *options)
    assert later.json == json.loads(Path(now).read_text())
    parts = signature_of(later)
    expected = {"seeds": "1", "training_precision": "bf16", "precision": "float32", "n": "350"}
    expected |= {"backend": "torch", "dims": "64", "max_tokens": "128", "prompt": "none"}
    assert expected.items() <= parts.items()
    assert parts["data"].count("@tiny") == 7
    stored = tmp_path / "runs" / "mine" / "seed-1" / "evaluations" / "sts.json"
    compared = embedlab("compare", seed, *options)
    for other in (str(stored), save(compared, "compared.json")):
        answer = embedlab("same", now, other)
        assert (answer.code, "mine@1 on sts: of the same thing; all" in answer.out) == (0, True)
    assert changed(parts, signature_of(compared)) == {"aggregation", "interval", "test"}


def test_a_run_is_compared_with_one_of_its_own_seeds(
    embedlab: Embedlab, recipe_of_two_seeds: str
) -> None:
    names, words = ("mine", f"{recipe_of_two_seeds}@1"), ("--task", "mine.tsv", "--json")
    compared = embedlab("compare", *names, *words)
    for name in names:
        alone = embedlab("evaluate", name, *words).row(setting="all")
        assert compared.row(model=name)["score"] == alone["score"]


def test_whatever_changes_a_number_changes_the_signature(
    embedlab: Embedlab, model: str, recipe_of_two_seeds: str, tmp_path: Path, tiny_encoder: Path
) -> None:
    def signed(name: str = model, *options: str, task: str = "mine.tsv") -> dict[str, str]:
        return signature_of(embedlab("evaluate", name, "--task", task, *options, "--json"))

    plain = signed()
    assert changed(plain, signed(model, "--aggregate", "mean")) == {"aggregation"}
    assert changed(plain, signed(model, "--metric", "pearson")) == {"metric"}
    by_source = {"by", "aggregation", "interval", "test"}
    assert changed(plain, signed(model, "--by", "source")) == by_source
    assert changed(plain, signed(f"{model}?pooling=max")) == {"pooling", "model"}
    assert changed(plain, signed(model, "--precision", "bf16")) == {"precision", "model"}
    assert changed(signed("mine"), signed("mine@1")) == {"seeds", "model"}
    assert changed(plain, signed("mine@1")) == {"seeds", "model", "training_precision"}
    assert {"dims", "backend", "max_tokens"} <= changed(plain, signed("dice"))
    short = Path(shutil.copytree(tiny_encoder, tmp_path / "short"))
    (short / "sentence_bert_config.json").write_text(
        '{"max_seq_length": 5, "do_lower_case": false}'
    )
    assert {"max_tokens", "model"} == changed(plain, signed("./short")) - {"pooling"}
    text = (tmp_path / "mine.tsv").read_text()
    (tmp_path / "mine.tsv").write_text(text.replace("\t5\t", "\t4\t", 1))
    assert changed(plain, signed()) == {"data"}
    (tmp_path / "mine.tsv").write_text(text + "a dog\ta cat\t3\tnews\n")
    assert changed(plain, signed()) == {"data", "n"}


def test_what_decides_no_number_is_not_in_the_signature(
    embedlab: Embedlab, model: str, tmp_path: Path
) -> None:
    plain = signature_of(embedlab("evaluate", model, "--task", "mine.tsv", "--json"))
    shutil.copytree(tmp_path / "tiny", tmp_path / "elsewhere" / "renamed")
    shutil.copy(tmp_path / "mine.tsv", tmp_path / "elsewhere" / "mine.tsv")
    moved = ("evaluate", "./elsewhere/renamed", "--task", "elsewhere/mine.tsv")
    assert signature_of(embedlab(*moved, "--threads", "2", "--device", "cpu", "--json")) == plain
    counted = ("evaluate", "dice", "--task", "mine.tsv", "--json")  # words, in no precision
    in_bf16 = embedlab(*counted, "--precision", "bf16")
    assert signature_of(in_bf16) == signature_of(embedlab(*counted))


def edited(path: str, into: str, *changes: Sequence[str]) -> str:
    text = Path(path).read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    Path(into).write_text(text)
    return into


def test_another_version_alone_is_shown_and_is_the_same_thing_if_the_scores_agree(
    embedlab: Embedlab,
) -> None:
    path = save(embedlab("evaluate", "dice", "--task", "mine.tsv", "--json"), "first.json")
    later = edited(path, "later.json", ("version:0.1.0", "version:9.0.0"))
    answer = embedlab("same", path, later, "--json")
    assert answer.code == 0
    assert answer.json["title"].endswith("the same thing, by another version; all 3 scores agree")
    assert cells(answer) == {"version": ("0.1.0", "9.0.0")}


def test_a_score_that_differs_by_less_than_the_last_printed_digit_agrees(
    embedlab: Embedlab,
) -> None:
    path = save(
        embedlab("evaluate", "dice", "--task", "mine.tsv", "--aggregate", "all", "--json"),
        "first.json",
    )
    values = json.loads(Path(path).read_text())
    for distance, code in ((0.0049, 0), (0.0051, 4), (None, 4)):
        score = values["rows"][0]["score"]
        row = values["rows"][0] | {"score": score + distance if distance is not None else None}
        Path("near.json").write_text(json.dumps({**values, "rows": [row]}))
        assert embedlab("same", path, "near.json").code == code, distance


def test_files_without_a_common_model_or_without_a_result_end_with_two_lines(
    embedlab: Embedlab, model: str
) -> None:
    call = ("evaluate", "--task", "mine.tsv", "--json")
    first = save(embedlab(*call, "dice", model), "first.json")
    others = (f"{model}?pooling=cls", f"{model}?pooling=max")
    second = save(embedlab(*call, *others), "second.json")
    newer = edited(first, "newer.json", ("|version:", "|vocabulary:many|version:"))
    for other, code, wrong in (
        (second, 2, "'first.json' has dice on sts, tiny on sts, 'second.json' has"),
        (newer, 3, "not a signature: 'vocabulary:many'"),
    ):
        answer = embedlab("same", first, other)
        assert (answer.code, answer.out) == (code, "")
        error, hint = answer.err.splitlines()
        assert wrong in error
        assert hint.startswith("hint: ")
    third = save(embedlab(*call, "dice", others[0]), "third.json")
    partly = embedlab("same", first, third)
    assert partly.out == "dice on sts: of the same thing; all 3 scores agree\n"
    assert "not compared, only in first.json: tiny on sts" in partly.err


def test_what_changed_between_results_of_the_same_vectors_is_named(
    embedlab: Embedlab, model: str
) -> None:
    command = ["evaluate", model, "--task", "mine.tsv", "--json"]
    first = save(embedlab(*command), "first.json")
    Path("mine.tsv").write_text(Path("mine.tsv").read_text().replace("\t5\t", "\t0\t"))
    changed_gold = embedlab("same", first, save(embedlab(*command), "second.json"))
    assert changed_gold.code == 4
    words = " ".join(changed_gold.out.split())
    assert "not of the same thing: data differs" in words
    assert (
        "no interval: both are of the same vectors, on other pairs, items or gold scores: "
        "mine.tsv/all changed" in words
    )

    values = json.loads(Path(first).read_text())
    values["rows"][0]["score"] += 1
    Path("edited.json").write_text(json.dumps(values))
    words = " ".join(embedlab("same", first, "edited.json").out.split())
    assert "both are of the same vectors on the same data: a number was changed in a file" in words
