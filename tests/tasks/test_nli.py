"""The labels of a run's own head against a plain numpy loop over its stored weights, in the sample
world and on a file of one's own.
"""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.recipe import load_recipe
from embedlab.data.dataset import NLI_LABELS
from embedlab.encoders.loading import load_encoder
from embedlab.models.catalog import ModelSpec
from embedlab.runs.outcomes import StoredOutcomes
from embedlab.tasks.nli import SOURCES, TASK
from tests.tasks.evaluated import SETTINGS, evaluated, spec_of, trained
from tests.training.small_runs import SAMPLE


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> ModelSpec:
    changes = ["stages.data.rows=200", "stages.optim.lr=1e-2", "stages.optim.epochs=2"]
    return trained(tmp_path_factory.mktemp("nli"), tiny_encoder, "snli-ce", *changes)


def slow_labels(spec: ModelSpec, split: str, rows: int = 10**6) -> list[str]:
    """The labels of the first rows of snli by the layers that a run has stored, pair by pair: of
    sbert W[u; v; |u−v|] + b, of liao tanh of that, then W₂.
    """
    encoder = load_encoder(spec, SETTINGS)
    heads = load_file(Path(spec.location).parent / "heads.safetensors")
    frame = SAMPLE.open("snli", split).frame.head(rows)
    sides = (encoder.encode(frame[side].to_list()) for side in ("premise", "hypothesis"))
    found = []
    for u, v in zip(*sides, strict=True):
        logits = np.concatenate([u, v, np.abs(u - v)]).astype(float)
        if "0.head.hidden.weight" in heads:
            logits = np.tanh(heads["0.head.hidden.weight"] @ logits + heads["0.head.hidden.bias"])
            logits = heads["0.head.output.weight"] @ logits + heads["0.head.output.bias"]
        else:
            logits = heads["0.head.weight"] @ logits + heads["0.head.bias"]
        found.append(NLI_LABELS[logits.argmax()])
    return found


def labels(outcomes: StoredOutcomes, column: str) -> list[str]:
    return [outcomes.classes[int(index)] for index in outcomes.items[column]]


def test_the_labels_are_those_of_the_head_that_the_run_stored(run: ModelSpec) -> None:
    found = evaluated("nli", run, "nli-snli")
    gold = SAMPLE.open("snli", "test").frame["label"].to_list()
    slow = slow_labels(run, "test")
    (outcomes,) = found.outcomes
    assert (labels(outcomes, "predicted"), labels(outcomes, "gold")) == (slow, gold)
    assert len(set(slow)) > 1  # a head that says one thing would pass by chance
    (score,) = found.evaluation.scores
    counts = Counter(zip(gold, slow, strict=True))
    assert score.value == pytest.approx(sum(counts[one, one] for one in NLI_LABELS) / len(slow))
    (note,) = (one for one in found.evaluation.notes if one.startswith("nli-snli:"))
    for one in NLI_LABELS:
        assert f"{one} {'/'.join(str(counts[one, other]) for other in NLI_LABELS)}" in note


def test_each_held_out_split_is_a_dataset_of_its_own(run: ModelSpec) -> None:
    found = evaluated("nli", run)
    scores = found.evaluation.scores
    assert {score.slice: score.split for score in scores} == {
        "nli-snli": "test",
        "nli-snli-dev": "dev",
        "nli-matched": "dev",
        "nli-mismatched": "dev",
        "nli-counterfactual": "test",
    }
    sizes = [SAMPLE.open(*SOURCES[score.slice]).frame.height for score in scores]
    assert [score.items for score in scores] == sizes
    items = {one.name: one for one in TASK.items(SAMPLE, [*SOURCES])}
    assert {one.name for one in found.outcomes} == set(items)
    assert all(len(set(one.classes)) == len(NLI_LABELS) for one in items.values())


def test_the_last_stage_with_such_a_head_labels_the_pairs(
    tmp_path: Path, tiny_encoder: Path
) -> None:
    changes = ["stage.0.data.rows=200", "stage.0.optim.lr=1e-2"]
    spec = trained(tmp_path, tiny_encoder, "sbert-defsent", *changes)
    (outcomes,) = evaluated("nli", spec, "nli-snli-dev").outcomes
    slow = slow_labels(spec, "dev")
    assert labels(outcomes, "predicted") == slow
    assert len(set(slow)) > 1


def test_a_model_without_a_head_for_pairs_is_refused_before_it_is_loaded(
    tiny_encoder: Path,
) -> None:
    with pytest.raises(UsageError, match="is not a run"):
        TASK.check(spec_of(tiny_encoder), SETTINGS)
    for recipe, change in (
        ("snli-supcl", "stage.0.objective.weight=1.0"),
        ("defsent", "encoder.pooling=mean"),
        ("glue-finetune", "encoder.pooling=mean"),  # a head with classes, but other ones
    ):
        with pytest.raises(UsageError, match="trained no head that labels pairs"):
            TASK.check_recipe(load_recipe(recipe, [change]), SAMPLE)
    for recipe in ("sbert", "snli-ce", "defsent-sbert", "sbert-defsent-multi"):
        TASK.check_recipe(load_recipe(recipe, []), SAMPLE)


def test_a_file_of_labelled_pairs_is_scored_with_its_own_names(
    run: ModelSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ["text\tclaim\tverdict", "a man sits\tno one agreed\t-"]
    frame = SAMPLE.open("snli", "test").frame.head(30)
    for one, other, label in frame.select("premise", "hypothesis", "label").rows():
        lines.append(f"{one}\t{other}\t{label[0].upper()}")
    Path("mine.tsv").write_text("\n".join(lines))
    name = (
        "nli:mine.tsv?s1=text&s2=claim&label=verdict&labels=E:entailment,N:neutral,C:contradiction"
    )
    found = evaluated("nli", run, name)
    assert [(score.slice, score.items) for score in found.evaluation.scores] == [(name, 30)]
    assert labels(found.outcomes[0], "predicted") == slow_labels(run, "test", 30)
    Path("scored.csv").write_text("sentence1,sentence2,score\na b,c d,3\n")
    with pytest.raises(MissingError, match="holds scored pairs, not labelled pairs"):
        evaluated("nli", run, "nli:scored.csv")
