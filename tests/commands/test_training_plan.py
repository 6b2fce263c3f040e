"""A training planned: what is there already, what is refused, and the words that do the same in
another process.
"""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from embedlab.commands.training_plan import (
    TrainOptions,
    TrainPlan,
    plan_training,
    starting_encoder,
    train_arguments,
)
from embedlab.core.errors import UsageError
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.data import tiny
from embedlab.runs import events
from embedlab.runs.store import RunFolder
from tests.stored_scores import begin_run

OPTIONS = TrainOptions(recipe="snli-ce")


def begin(plan: TrainPlan, *ended: events.Event) -> RunFolder:
    """The folder of the plan's first run after an attempt that ended like this."""
    started = events.Started(pid=1, host="here", steps=9)
    return begin_run(next(iter(plan.runs)), plan.recipe, started, *ended)


def finished(plan: TrainPlan) -> list[bool]:
    return [*plan.runs.values()]


def test_planning_needs_no_torch_and_writes_nothing(settings: Settings) -> None:
    code = (
        "import sys; from pathlib import Path; from embedlab.core.settings import Settings\n"
        "from embedlab.core.paths import TINY_FOLDER\n"
        "from embedlab.commands.training import missing_evaluation, missing_to_train\n"
        "from embedlab.commands.training_plan import TrainOptions\nfrom "
        "embedlab.commands.training_plan import plan_training\n"
        f"settings = Settings(data=TINY_FOLDER, runs=Path({str(settings.runs)!r}))\n"
        "found = [plan_training(TrainOptions(recipe=name), settings).recipe for name in "
        "('snli-ce', 'multitask', 'glue-finetune')]\n"
        "for recipe in found:\n"
        "    assert not missing_to_train(recipe, settings)\n"
        "    assert not list(missing_evaluation(recipe, settings))\n"
        "assert not {'torch', 'transformers', 'datasets', 'typer', 'textual'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert not settings.runs.exists()


def test_a_new_training_has_a_run_for_each_seed(settings: Settings) -> None:
    plan = plan_training(
        replace(OPTIONS, seeds=(1, 2, 7), name="mine", overrides=("optim.lr=1e-4",)), settings
    )
    assert [run.id for run in plan.todo] == ["mine@1", "mine@2", "mine@7"]
    assert (finished(plan), plan.model, plan.notes) == ([False] * 3, "mine", ())
    assert plan.recipe.stages[0].optim.lr == 1e-4
    assert plan_training(replace(OPTIONS, seed=3), settings).model == "snli-ce@3"


def test_a_run_with_the_name_of_an_encoder_is_noted(settings: Settings, small_bert: Path) -> None:
    shutil.copytree(small_bert, settings.runs / "minilm" / "seed-1" / "model")
    plan = plan_training(replace(OPTIONS, encoder="minilm"), settings)
    assert "the run 'minilm', not the published checkpoint of that name" in plan.notes[0]


def test_a_finished_run_is_skipped_with_a_note_and_refused_for_another_recipe(
    settings: Settings,
) -> None:
    run = begin(plan_training(OPTIONS, settings), events.Finished(step=9))
    run.model.mkdir()
    plan = plan_training(replace(OPTIONS, seeds=(1, 2)), settings)
    assert (finished(plan), plan.notes) == (
        [True, False],
        ("snli-ce@1 is finished already: skipped",),
    )
    assert [run.id for run in plan.todo] == ["snli-ce@2"]
    changed = ("optim.lr=0.5", "evaluate.tasks=[]")
    with pytest.raises(
        UsageError, match=r"trained with another recipe: stage\.0\.optim\.lr was 2e-05, now 0\.5$"
    ):
        plan_training(replace(OPTIONS, overrides=changed), settings)
    # scores of both seeds would be averaged as if chance alone were between them
    with pytest.raises(UsageError, match="'snli-ce@1' was trained with another recipe"):
        plan_training(replace(OPTIONS, seed=2, overrides=("optim.lr=0.5",)), settings)


def test_a_run_that_has_begun_is_refused_before_another_seed_is_trained_unless_it_is_resumed(
    settings: Settings,
) -> None:
    run = begin(plan_training(replace(OPTIONS, seed=2), settings), events.RunInterrupted(step=3))
    (run.checkpoints / "step-0000003").mkdir(parents=True)
    with pytest.raises(UsageError, match="'snli-ce@2' exists already") as refused:
        plan_training(replace(OPTIONS, seeds=(1, 2)), settings)
    assert "--resume" in refused.value.hint
    assert finished(plan_training(replace(OPTIONS, seeds=(1, 2), resume=True), settings)) == [
        False,
        False,
    ]
    newest = plan_training(replace(OPTIONS, resume=True), settings)
    assert ([one.id for one in newest.todo], newest.model) == (["snli-ce@2"], "snli-ce@2")
    with pytest.raises(UsageError, match="trained with another recipe"):
        plan_training(replace(OPTIONS, resume=True, overrides=("optim.lr=0.5",)), settings)


def test_what_ended_before_its_first_checkpoint_does_not_bind_a_new_training(
    settings: Settings,
) -> None:
    begin(plan_training(OPTIONS, settings), events.Failed(message="the loss is not finite"))
    assert finished(plan_training(replace(OPTIONS, overrides=("optim.lr=0.5",)), settings)) == [
        False
    ]


def test_a_run_that_a_process_trains_now_is_refused_where_that_is_wanted(
    settings: Settings,
) -> None:
    run = begin(plan_training(OPTIONS, settings))
    with run.lock():
        assert finished(plan_training(OPTIONS, settings)) == [False]
        with pytest.raises(UsageError, match="'snli-ce@1' is running"):
            plan_training(replace(OPTIONS, resume=True), settings)


def test_corpora_of_other_words_start_from_another_encoder(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    former = starting_encoder(None, settings)
    monkeypatch.setattr(tiny, "vocabulary", lambda: ("a", "man", "ponders"))
    assert starting_encoder(None, settings) != former


def test_another_process_gets_every_option_and_setting() -> None:
    options = TrainOptions(
        recipe="snli-ce",
        overrides=("optim.lr=1e-4", "data.rows=64"),
        seeds=(1, 2),
        max_steps=9,
        name="mine",
        encoder="tiny",
        resume=True,
        gpus=2,
        track="tensorboard",
        keeps_checkpoints=True,
    )
    words = " ".join(
        train_arguments(options, Settings(data=TINY_FOLDER, threads=2, format="json", quiet=True))
    )
    assert words == (
        "train snli-ce --set optim.lr=1e-4 --set data.rows=64 --max-steps 9 --name mine "
        "--encoder tiny --seeds 2 --gpus 2 "
        "--track tensorboard --resume --keep-checkpoints --format json --quiet "
        "--runs runs --device auto --precision auto --data tiny --threads 2"
    )
    with pytest.raises(UsageError, match="seeds 1, 7"):
        train_arguments(replace(options, seeds=(1, 7)), Settings())
