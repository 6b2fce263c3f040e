"""The labels of a run's own head against a plain numpy loop over its stored weights, in the sample
world and on a file of one's own.
"""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.recipe import load_recipe
from embedlab.core.settings import Settings
from embedlab.data.dataset import NLI_LABELS
from embedlab.data.source import Source
from embedlab.encoders.device import Machine, machine
from embedlab.encoders.loading import load_encoder
from embedlab.models.catalog import ModelSpec, resolve
from embedlab.runs.outcomes import StoredOutcomes
from embedlab.runs.store import RunFolder
from embedlab.tasks.nli import SOURCES, TASK
from embedlab.tasks.task import Selection, TaskResult
from embedlab.training.stages import train_run

SETTINGS = Settings(data=TINY_FOLDER, device="cpu", threads=1, cache_gib=0)
SAMPLE = Source(folder=TINY_FOLDER)
Pair = tuple[str, str, str]


def trained(folder: Path, encoder: Path, recipe: str, *changes: str) -> ModelSpec:
    run = RunFolder.of(folder / "runs", recipe, 1)
    here: Machine = machine(SETTINGS)
    train_run(
        load_recipe(
            recipe,
            ["encoder.max_tokens=32", "stage.0.data.rows=300", *changes],
            encoder=str(encoder),
        ),
        SAMPLE,
        here,
        run,
        1,
    )
    return ModelSpec(name=run.id, kind="run", location=str(run.model))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> ModelSpec:
    return trained(
        tmp_path_factory.mktemp("nli"),
        tiny_encoder,
        "snli-ce",
        "stage.0.data.rows=1500",
        "stage.0.optim.lr=3e-3",
        "stage.0.optim.epochs=2",
        "evaluate.dev=none",
    )


def result(spec: ModelSpec, *names: str) -> TaskResult:
    return TASK.evaluate(spec, SETTINGS, lambda _: lambda done, total: None, Selection(names=names))


def slow_labels(spec: ModelSpec, pairs: list[Pair]) -> list[str]:
    """The label of each pair by the two layers of liao's head: tanh(W₁[u; v; |u−v|] + b₁), then W₂,
    pair by pair.
    """
    encoder = load_encoder(spec, machine(SETTINGS), cache=None)
    heads = {
        name.removeprefix("0.head."): values
        for name, values in load_file(Path(spec.location).parent / "heads.safetensors").items()
    }
    found: list[str] = []
    first, second = (
        encoder.encode([pair[side] for pair in pairs]).astype(np.float64) for side in (0, 1)
    )
    for u, v in zip(first, second, strict=True):
        hidden = np.tanh(
            heads["hidden.weight"] @ np.concatenate([u, v, np.abs(u - v)]) + heads["hidden.bias"]
        )
        found.append(
            NLI_LABELS[int(np.argmax(heads["output.weight"] @ hidden + heads["output.bias"]))]
        )
    return found


def labels(outcomes: StoredOutcomes, column: str) -> list[str]:
    return [outcomes.classes[int(index)] for index in outcomes.items[column]]


def test_the_labels_are_those_of_the_head_that_the_run_stored(run: ModelSpec) -> None:
    found = result(run, "nli-snli")
    frame = SAMPLE.open("snli", "test").frame
    gold = frame["label"].to_list()
    slow = slow_labels(run, frame.select("premise", "hypothesis", "label").rows())
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
    found = result(run)
    assert [(score.slice, score.split, score.items) for score in found.evaluation.scores] == [
        (name, split, SAMPLE.open(*SOURCES[name]).frame.height)
        for name, split in (
            ("nli-snli", "test"),
            ("nli-snli-dev", "dev"),
            ("nli-matched", "dev"),
            ("nli-mismatched", "dev"),
            ("nli-counterfactual", "test"),
        )
    ]
    items = {one.name: one for one in TASK.items(SAMPLE, [*SOURCES])}
    assert {one.name for one in found.outcomes} == set(items)
    assert all(len(set(one.classes)) == len(NLI_LABELS) for one in items.values())


def test_the_last_stage_with_such_a_head_labels_the_pairs(
    tmp_path: Path, tiny_encoder: Path
) -> None:
    spec = trained(tmp_path, tiny_encoder, "sbert-defsent", "stage.1.data.rows=50")
    (outcomes,) = result(spec, "nli-snli-dev").outcomes
    encoder = load_encoder(spec, machine(SETTINGS), cache=None)
    heads = load_file(Path(spec.location).parent / "heads.safetensors")
    frame = SAMPLE.open("snli", "dev").frame
    u, v = (encoder.encode(frame[name].to_list()) for name in ("premise", "hypothesis"))
    logits = np.hstack([u, v, np.abs(u - v)]) @ heads["0.head.weight"].T + heads["0.head.bias"]
    expected = [NLI_LABELS[index] for index in logits.argmax(axis=1)]
    assert labels(outcomes, "predicted") == expected


def test_a_model_without_a_head_for_pairs_is_refused_before_it_is_loaded(
    tmp_path: Path, tiny_encoder: Path
) -> None:
    with pytest.raises(UsageError, match="is not a run"):
        TASK.check(resolve(str(tiny_encoder), tmp_path).members[0], SETTINGS)
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
    frame = SAMPLE.open("snli", "test").frame.head(30)
    lines = [
        f"{one}\t{other}\t{label[0].upper()}"
        for one, other, label in frame.select("premise", "hypothesis", "label").rows()
    ]
    Path("mine.tsv").write_text(
        "\n".join(["text\tclaim\tverdict", *lines, f"{frame['premise'][0]}\tno one agreed\t-"])
        + "\n"
    )
    name = (
        "nli:mine.tsv?s1=text&s2=claim&label=verdict&labels=E:entailment,N:neutral,C:contradiction"
    )
    found = result(run, name)
    assert [(score.slice, score.items) for score in found.evaluation.scores] == [(name, 30)]
    assert labels(found.outcomes[0], "predicted") == slow_labels(
        run, frame.select("premise", "hypothesis", "label").rows()
    )
    Path("scored.csv").write_text("sentence1,sentence2,score\na b,c d,3\n")
    with pytest.raises(MissingError, match="holds scored pairs, not labelled pairs"):
        result(run, "nli:scored.csv")
