"""Explanations, against loops that encode one sentence at a time, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import percentileofscore

import embedlab
from embedlab.analysis.word_effects import effects_of
from embedlab.commands.explain import Variants, similarities_of
from embedlab.core.errors import UsageError
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.data.words import shown_words, without_word
from embedlab.encoders.loading import DiceScorer, scorer_for
from embedlab.models.catalog import resolve

FIRST, SECOND = "A dog runs in the park, fast.", "the cat sleeps"
FILE = "sentence1\tsentence2\tscore\n" + "".join(
    f"a dog number {n}\t{n} cats\t{n}\n" for n in range(12)
)


@pytest.fixture
def pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Twelve pairs of a reference, in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.tsv").write_text(FILE)
    return "pairs.tsv"


def loop(score: Callable[[str, str], float], first: str, second: str) -> list[float]:
    """The effect of each word, one call a variant."""
    whole = score(first, second)
    of_first = [whole - score(without_word(first, word), second) for word in shown_words(first)]
    return of_first + [
        whole - score(first, without_word(second, word)) for word in shown_words(second)
    ]


@pytest.mark.parametrize("name", ["bert", "modernbert", "combination", "dice"])
def test_effects_are_those_of_a_loop_without_batches(
    architectures: dict[str, Path], name: str
) -> None:
    parts = f"{architectures['bert']}?pooling=mean,{architectures['roberta']}"
    typed = {"combination": f"normalized-average:{parts}", "dice": "dice"}.get(
        name
    ) or f"{architectures[name]}?pooling=mean"
    scorer = scorer_for(resolve(typed, Path("none")).members[0], Settings(device="cpu"))
    table, _ = similarities_of(scorer, Variants.of(FIRST, SECOND))
    expected = loop(lambda one, other: float(scorer.score([one], [other])[0]), FIRST, SECOND)
    assert np.allclose(effects_of(table), expected, atol=1e-6)
    without = [without_word(text, shown_words(text)[1]) for text in (FIRST, SECOND)]
    assert table[2, 2] == pytest.approx(
        float(scorer.score([without[0]], [without[1]])[0]), abs=1e-6
    )


def test_the_frame_has_the_numbers_of_the_arrays_ranked_in_the_reference(
    tmp_path: Path, pairs: str, architectures: dict[str, Path]
) -> None:
    models = ["dice", f"{architectures['bert']}?pooling=mean"]
    both = embedlab.explain(FIRST, SECOND, models, reference=pairs, cache=tmp_path / "c")
    explained = both.explanation
    words = both.frame.filter(kind="word", model="dice")
    assert np.allclose(words["effect"], explained.models[0].effects)
    together = both.frame.filter(kind="words", model="dice").height
    assert together == len(shown_words(FIRST)) * len(shown_words(SECOND))
    other = both.frame.filter(kind="word", model=explained.models[1].name)
    assert np.allclose(other["difference"], other["effect"].to_numpy() - words["effect"].to_numpy())
    first, second, _ = pl.read_csv(pairs, separator="\t")
    scores = DiceScorer().score([*first], [*second])
    rank = percentileofscore(scores, words["similarity"][0], kind="mean")
    assert words["rank"][0] == pytest.approx(rank)


def test_the_parts_of_the_token_view_are_a_table_of_words_whose_sums_are_shown(
    architectures: dict[str, Path],
) -> None:
    models = {"first": f"{architectures['bert']}?pooling=mean", "second": "wordllama"}
    report = embedlab.explain(FIRST, SECOND, models=models, view="tokens")
    for name, model in models.items():
        (cosine,) = embedlab.score_pairs(model, [FIRST], [SECOND])
        parts, sums = (
            report.frame.filter(kind=kind, model=name).sort("sentence", "place")
            for kind in ("parts", "part")
        )
        assert parts["part"].sum() == pytest.approx(cosine, abs=1e-5)
        assert sums.select("sentence", "word").rows() == [
            *((1, word.text) for word in shown_words(FIRST)),
            (1, "(other tokens)"),
            *((2, word.text) for word in shown_words(SECOND)),
            (2, "(other tokens)"),
        ]
        for sentence, place in enumerate(("place", "second_place"), 1):
            added = parts.group_by(place).agg(pl.sum("part")).sort(place)["part"].to_list()
            own = sums.filter(sentence=sentence)["part"].to_list()
            assert own == pytest.approx(added, abs=1e-6)
        assert f"{cosine:.3f}" in str(report)


def test_an_edit_moves_each_model_and_a_rule_says_that_it_made_it(pairs: str) -> None:
    report = embedlab.explain(
        "A man is asleep.",
        "The man is awake.",
        "dice",
        reference=pairs,
        instead="A dog is asleep.",
        edits=["number", "negate"],
    )
    assert "the rule 'number' is not safe in either sentence" in report.notes
    assert (
        "dice: the pair ranks above all pairs of the reference: ranks do not show how far"
        in report.notes
    )
    found = report.frame.filter(kind="edit")
    assert found["text"].to_list() == ["A dog is asleep.", "The man is not awake."]
    assert found["sentence"].to_list() == [1, 2]
    assert found["rule"].to_list() == [None, "negate"]
    whole = DiceScorer().score(
        ["A man is asleep."] * 2, ["The man is awake.", "The man is not awake."]
    )
    assert found["similarity"][1] == pytest.approx(float(whole[1]))
    assert np.allclose(
        found["effect"], found["rank"] - 100
    )  # the pair is above all of the reference


def test_a_pair_is_ranked_among_the_dataset_that_it_is_from() -> None:
    from embedlab.data.source import Source

    frame = Source(folder=TINY_FOLDER).open("sts13").frame
    pair = frame["sentence1"][5], frame["sentence2"][5]
    for first, second in (pair, pair[::-1]):
        found = embedlab.explain(first, second, "dice", data="tiny")
        assert found.frame["reference"].unique().to_list() == ["sts13"]
        assert any(note.endswith("pairs of sts13; 50 is the middle") for note in found.notes)
    assert (
        embedlab.explain("one of no dataset", "and another", "dice").frame["reference"][0]
        == "starter"
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"first": " "}, "' ' has no word to leave out"),
        ({"models": "scores:scores.tsv"}, "has only the scores in its file"),
        ({"models": "BERT?whiten=fit"}, "is whitened by the sentences that are scored"),
        (
            {"models": "average:BERT?whiten=fit,BERT"},
            "is whitened by the sentences that are scored",
        ),
        ({"edits": "translate"}, "no rule of edits named 'translate'"),
        ({"edits": "number"}, "the rule 'number' is not safe in either sentence"),
        ({"instead": "a dog"}, "'a dog' is the sentence itself"),
        ({"view": "tokens", "instead": "x"}, "option instead is for the view 'effects'"),
        ({"view": "tokens"}, "'dice': its vectors are not sums of token vectors"),
        ({"view": "gradients"}, "view is 'gradients'"),
    ],
)
def test_what_cannot_be_explained_is_refused_with_the_reason(
    wrong: dict[str, Any], message: str, pairs: str, small_bert: Path
) -> None:
    Path("scores.tsv").write_text("sentence1\tsentence2\tmine\na dog\ta cat\t0.5\n")
    options = {"first": "a dog", "second": "a cat", "models": "dice", "reference": pairs, **wrong}
    if options.get("view", "effects") == "tokens":
        options["reference"] = None
    options["models"] = options["models"].replace("BERT", str(small_bert))
    with pytest.raises(UsageError, match=message.replace("(", r"\(")) as refused:
        embedlab.explain(**options)
    assert refused.value.hint
