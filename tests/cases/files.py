"""Inputs about data of one's own and corpora."""

from tests.cases.runner import Case

CASES = (
    Case(
        name="qrels-float-grade",
        command="embedlab evaluate minilm --task ./b16",
        says=["100.00"],
    ),
    Case(
        name="corpus-duplicate-text",
        command="embedlab evaluate minilm --task ./b21 --notes",
        says=["the best possible ndcg@10 is 87.70"],
    ),
    Case(
        name="dash-sentence",
        command="embedlab score '-5 degrees outside' 'It is cold.' -m dice",
        code=2,
        says=["embedlab score -m dice -- '-5 degrees outside' 'It is cold.'"],
    ),
    Case(
        name="dash-sentence",
        command="embedlab score -m dice -- '-5 degrees outside' 'It is cold.'",
    ),
)
