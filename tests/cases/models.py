"""Inputs about models."""

from tests.cases.runner import Case

CASES = (
    Case(
        name="old-0_BERT",
        command="embedlab score 'zzz qqq' 'a dog' --model ./old0bert",
        code=3,
        says=["has a module 'BERT'", "name the result vectors:FILE"],
    ),
    Case(
        name="st-module-raises",
        command="embedlab score 'zzz qqq' 'a dog' --model sentence-transformers:./lstm",
        code=3,
        says=["sentence-transformers cannot compute 'sentence-transformers:./lstm': KeyError"],
    ),
    Case(
        name="mteb-nan-result",
        command="embedlab evaluate mteb:mt --task sts-benchmark --data starter --notes",
        says=["main_score is NaN in STSBenchmark.json"],
    ),
)
