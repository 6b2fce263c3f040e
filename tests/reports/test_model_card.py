"""The sections that an export adds to a model's card."""

from math import nan

from embedlab.reports.model_card import scores_section, usage_section
from embedlab.runs.evaluations import Evaluation, StoredScore
from tests.stored_scores import evaluation, score


def evaluated(*scores: StoredScore) -> Evaluation:
    notes = ("trained on partial snli train: 3 of 9 rows",)
    facts = {"marks": ("partial",), "training_precision": "bf16", "notes": notes}
    return evaluation("sts", *scores, **facts)


def test_scores_have_their_marks_precisions_and_notes() -> None:
    sts12 = score("sts12", 0.75)
    scores = evaluated(sts12, score("sts12/MSRpar", 0.5, by="source"), score("sts13", nan))
    text = scores_section([(scores, {sts12: (0.7, 0.8)})])
    assert "sts x 100 [partial], evaluated in float32, trained in bf16:" in text
    assert "| sts12 | spearman | all | 75.00 [70.00, 80.00] | 100 |" in text
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
