"""The sections that an export adds to a model's card."""

from math import nan

from embedlab.reports.model_card import scores_section, usage_section
from embedlab.runs.evaluations import Evaluation, StoredScore


def evaluated(*scores: StoredScore) -> Evaluation:
    return Evaluation(
        task="sts",
        model="mine@1",
        fingerprint="f",
        precision="float32",
        pooling="mean",
        max_tokens=128,
        truncated=0,
        training_precision="bf16",
        data=(),
        marks=("partial",),
        scores=scores,
        notes=("trained on partial snli train: 3 of 9 rows",),
    )


def test_scores_have_their_marks_precisions_and_notes() -> None:
    def score(by: str, slice_: str, value: float) -> StoredScore:
        return StoredScore(
            by=by, slice=slice_, metric="spearman", setting="all", value=value, items=3108
        )

    sts12 = score("dataset", "sts12", 0.75)
    scores = evaluated(sts12, score("source", "sts12/MSRpar", 0.5), score("dataset", "sts13", nan))
    text = scores_section([(scores, {sts12: (0.7, 0.8)})])
    assert "sts x 100 [partial], evaluated in float32, trained in bf16:" in text
    assert "| sts12 | spearman | all | 75.00 [70.00, 80.00] | 3108 |" in text
    assert "- intervals are about this checkpoint" in text
    assert "without an interval" not in text
    assert "MSRpar" not in text
    assert "sts13" not in text
    assert "- trained on partial snli train: 3 of 9 rows" in text
    text = scores_section([(scores, None)])
    assert "- without an interval: what it predicted of each item is not stored" in text
    assert "about this checkpoint" not in text
    assert scores_section([(evaluated(), {})]) == ""


def test_the_snippet_is_python_that_loads_the_folder() -> None:
    text = usage_section("my-model")
    code = text.split("```python")[1].split("```")[0]
    compile(code, "card", "exec")
    assert "SentenceTransformer('my-model')" in code
