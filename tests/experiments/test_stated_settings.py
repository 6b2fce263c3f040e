"""What the papers state of their trainings, and what the recipes have: the same, or declared."""

from dataclasses import dataclass
from typing import Any

import pytest

from embedlab.core.recipe import Recipe, load_recipe, recipe_to_table
from embedlab.experiments.grid_file import load_grid
from embedlab.experiments.paper_file import load_paper, published_table
from embedlab.experiments.paper_trainings import trainings
from tests.experiments.paper_texts import is_said

PAPERS = ("chen", "liao", "sedghamiz", "tsukagoshi")
CHOSEN = object()  # by the authors' own search: no value is stated
HEADS = ("sentiment_head", "paraphrase_head", "similarity_head")
CONTRASTIVE = ("in_batch_contrastive", "duplicate_contrastive")
SUPERVISED = ("multitask", "multitask-given", "multitask-single")
UNSUPERVISED = (
    "multitask-baseline",
    "multitask-contrastive-first",
    "multitask-fusion",
    "multitask-supervised-first",
)


@dataclass(frozen=True)
class Stated:
    """A hyper-parameter that a paper states: where, in which words, and what it is."""

    paper: str
    section: str
    words: str
    key: str  # of a stage: without its number
    value: Any
    recipes: tuple[str, ...] = ()  # none: all of the paper
    objectives: tuple[str, ...] = ()  # the stages that it is of; none: all


NLI, WORDS = ("nli_softmax",), ("definition_to_word",)
CLASSES = ("class_contrastive",)
SCL = ("snli-supcl", "snli-supcl-3p3n", "snli-supcl-3palln")
STATED = [
    Stated("liao", "§4.1", "550,152 data from SNLI train dataset", "data.datasets", "550,152 pairs of snli"),
    Stated("liao", "§4.1", "SNLI train dataset", "data.split", "train"),
    Stated("liao", "§4.2", "pretrained 8-layer uncased BERT with hidden size 512", "encoder.model", "google/bert_uncased_L-8_H-512_A-8"),
    Stated("liao", "§4.2", "The pooling method used in all of our models including baseline is mean pooling.", "encoder.pooling", "mean-without-cls"),
    Stated("liao", "§3", "pool the output token embeddings except the first [CLS] token", "encoder.pooling", "mean-without-cls"),
    Stated("liao", "§4.2", "Adam optimizer with learning rate 2e^{-5}", "optim.lr", 2e-5),
    Stated("liao", "§4.2", "a linear optimizer scheduler", "optim.schedule", "linear"),
    Stated("liao", "§4.2", "10% of the train data as warm-up step", "optim.warmup", 0.1),
    Stated("liao", "§4.2", "All models are trained using batch size 64", "optim.batch_size", 64),
    Stated("liao", "§4.2", "only trained with 1 epoch", "optim.epochs", 1),
    Stated("liao", "§3", "to a two-layer softmax classifier", "objective.head", "two-layer"),
    Stated("liao", "§3", r"e^{\Phi(x_i) \cdot \Phi(x_j) / \tau}", "objective.similarity", "dot", SCL),
    Stated("liao", "§4.4", "All models listed in this section have a fixed temperature value 1.0.", "objective.temperature", 1.0, SCL),
    Stated("liao", "§5.1", r"For STS tasks, the best model has \lambda value 0.3.", "objective.weight", 0.3, SCL),
    Stated("liao", "table 2", "3p3n means at most 3 positive sentences and at most 3 negative sentences", "objective.positives", 3, ("snli-supcl-3p3n",)),
    Stated("liao", "table 2", "3p3n means at most 3 positive sentences and at most 3 negative sentences", "objective.negatives", 3, ("snli-supcl-3p3n",)),
    Stated("liao", "table 2", "3palln means at most 3 positive sentences and all negative candidates", "objective.positives", 3, ("snli-supcl-3palln",)),
    Stated("liao", "table 2", "3palln means at most 3 positive sentences and all negative candidates", "objective.negatives", "all", ("snli-supcl-3palln",)),
    Stated("liao", "table 2", "allpalln means all positive and negative sentence candidates", "objective.positives", "all", ("snli-supcl",)),
    Stated("liao", "table 2", "allpalln means all positive and negative sentence candidates", "objective.negatives", "all", ("snli-supcl",)),
    Stated("liao", "table 2", "3p3n-Augment, allpalln-Augment are other baseline models", "objective.augment.positives", 3, ("snli-augment-3p3n",)),
    Stated("liao", "table 2", "3p3n-Augment, allpalln-Augment are other baseline models", "objective.augment.negatives", 3, ("snli-augment-3p3n",)),
    Stated("liao", "table 2", "3p3n-Augment, allpalln-Augment are other baseline models", "objective.augment.positives", "all", ("snli-augment-allpalln",)),
    Stated("liao", "table 2", "3p3n-Augment, allpalln-Augment are other baseline models", "objective.augment.negatives", "all", ("snli-augment-allpalln",)),
    Stated("tsukagoshi", "§2.5", "BERT-base (bert-base-uncased)", "encoder.model", "google-bert/bert-base-uncased"),
    Stated("tsukagoshi", "§2.5", "adopt Mean as the pooling strategy", "encoder.pooling", "mean"),
    Stated("tsukagoshi", "appendix A", "the max sequence length is 128", "encoder.max_tokens", 128),
    Stated("tsukagoshi", "appendix A", "we use a batch size of 16", "optim.batch_size", 16),
    Stated("tsukagoshi", "appendix A", "an epoch size of 1", "optim.epochs", 1),
    Stated("tsukagoshi", "appendix A", "a linear learning rate warm-up over 10% of training steps", "optim.warmup", 0.1),
    Stated("tsukagoshi", "appendix A", "We choose the learning rate that achieves the highest average score on the validation set", "optim.lr", CHOSEN),
    Stated("tsukagoshi", "§2.1", "the Stanford NLI (SNLI) dataset (Bowman et al., 2015) and Multi-Genre NLI (MultiNLI) dataset", "data.datasets", ["snli", "multinli"], objectives=NLI),
    Stated("tsukagoshi", "§2.1", "inputs it into a three-way softmax classifier", "objective.head", "linear", objectives=NLI),
    Stated("tsukagoshi", "§2.2", "predicting a word from its definition sentence in a dictionary", "data.datasets", "a dictionary", objectives=WORDS),
    Stated("tsukagoshi", "§2.2", "The word prediction layer is the one that was used for masked language modeling during pre-training.", "objective.head", "mlm", objectives=WORDS),
    Stated("tsukagoshi", "§4", "we do 19 steps with SBERT and then 1 step with DefSent", "optim.turn", 19, ("sbert-defsent-multi",), NLI),
    Stated("tsukagoshi", "§4", "we do 19 steps with SBERT and then 1 step with DefSent", "optim.turn", 1, ("sbert-defsent-multi",), WORDS),
    Stated("sedghamiz", "§2", "a single Encoder Transformer", "encoder.model", "google-bert/bert-base-uncased"),
    Stated("sedghamiz", "§2.1, footnote 2", "last layer's hidden-state of the first token of the sequence", "encoder.pooling", "cls"),
    Stated("sedghamiz", "§2", "the encoder parameters are frozen and a linear classification layer is then trained", "objective.frozen", True, ("supcl-seq", "glue-simcse"), ("classification",)),
    Stated("sedghamiz", "appendix A", r"\tau = 0.05", "objective.temperature", 0.05, objectives=CLASSES),
    Stated("sedghamiz", "§2.1", r"\sum_{i \in I}", "objective.reduction", "sum", objectives=CLASSES),
    Stated("sedghamiz", "§3.2", "we deploy the hyper-parameters reported in Devlin et al. (2018)", "optim.lr", CHOSEN, ("glue-finetune",)),
    Stated("chen", "§4.1", "hidden state of the [CLS] token", "encoder.pooling", "cls"),
    Stated("chen", "§5.3", "a default learning rate of 1e-05", "optim.lr", 1e-5),
    Stated("chen", "§5.3", "a default temperature parameter of 0.05", "objective.temperature", 0.05, objectives=CONTRASTIVE),
    Stated("chen", "§5.3", "a default batch size of 16", "optim.batch_size", 16),
    Stated("chen", "§5.3", "first SST data, then Quora data, and finally SemEval STS data for 10 epochs", "optim.epochs", 10, UNSUPERVISED),
    Stated("chen", "§5.3", "6% of the Quora training data is randomly sampled", "data.shares.paraphrase-sentences", 0.06, UNSUPERVISED[1:], CONTRASTIVE),
    Stated("chen", "§5.3", "the parameters giving the best dev accuracy are saved", "evaluate.keep", "best", (*SUPERVISED, *UNSUPERVISED)),
    Stated("chen", "§5.3", "contrastive pre-training is performed on the 3 datasets for 5 epochs", "optim.epochs", 5, ("multitask-given", "multitask-pretrain-given", "multitask-pretrain-quora"), CONTRASTIVE),
    Stated("chen", "§5.3", "on the combined NLI dataset for 3 epochs", "optim.epochs", 3, ("multitask-pretrain-nli",)),
    Stated("chen", "§5.3", "Task-specific training is conducted for 10 epochs.", "optim.epochs", 10, SUPERVISED, HEADS),
    Stated("chen", "§5.3", "dropout probability of 0.3 at each linear layer", "objective.dropout", 0.3, objectives=HEADS),
    Stated("chen", "§4.1", "a small (2-layer) MLP network is used on top of the CLS embeddings for contrastive training and thrown away", "objective.projection", "two-layer", objectives=CONTRASTIVE),
    Stated("chen", "§4.1", "are taken as negative pairs, whose contrastive loss is maximized instead", "objective.others", "maximise", objectives=("duplicate_contrastive",)),
    Stated("chen", "§4.2", "a small (2-layer) MLP network with dropout is added in the prediction head for each of the 3 tasks", "objective.layers", "two-layer", SUPERVISED, HEADS),
    Stated("chen", "§4.2", "the first layer of the MLP networks is shared between STS and paraphrase detection heads", "objective.sharing", "first-layer", ("multitask", "multitask-given"), ("similarity_head",)),
    Stated("chen", "§4.2", "by optimizing the average loss of the three", "mix.combine", "average", ("multitask", "multitask-given")),
    Stated("chen", "§4.2", "proportionally down-sampled to the same length as the STS dataset", "mix.until", "smallest", ("multitask", "multitask-given")),
]  # fmt: skip


def recipes_of(paper: str) -> dict[str, Recipe]:
    """Every recipe that the rows of a paper train, by name."""
    names = {
        name
        for table in load_paper(paper).values()
        for _, source in trainings(table).values()
        for name in str(source.recipe).split("+")
    }
    return {name: load_recipe(name) for name in sorted(names)}


def values_at(recipe: Recipe, statement: Stated) -> dict[str, Any]:
    """The values of a recipe that STATEMENT is about, by full key."""
    table, keys = recipe_to_table(recipe), [statement.key]
    if statement.key.split(".")[0] not in {"encoder", "evaluate", "mix"}:
        keys = [
            f"stage.{number}.{statement.key}"
            for number, stage in enumerate(table["stage"])
            if not statement.objectives or stage["objective"]["name"] in statement.objectives
        ]
    return {key: at(table, key) for key in keys}


def at(table: Any, key: str) -> Any:
    for step in key.split("."):
        table = table[int(step)] if isinstance(table, list) else (table or {}).get(step)
    return table


@pytest.mark.parametrize("paper", PAPERS)
def test_recipes_have_the_stated_hyper_parameters_or_declare_others(paper: str) -> None:
    recipes = recipes_of(paper)
    compared = dict.fromkeys(recipes, 0)
    for statement in (one for one in STATED if one.paper == paper):
        for name in statement.recipes or recipes:
            declared = {key for one in recipes[name].deviations for key in one.keys}
            for key, value in values_at(recipes[name], statement).items():
                compared[name] += 1
                assert value == statement.value or key in declared, (name, statement, value)
    assert min(compared.values()) > 1, compared


@pytest.mark.parametrize("name", ["supcl-seq", "glue-dropout-augmented"])
def test_each_glue_task_has_the_settings_of_sedghamiz_table_4(name: str) -> None:
    """Of the augmented row, too: "for the training parameters, see Appendix A" (§3.2.1)."""
    for row in published_table("sedghamiz", "table4_training_details").iter_rows(named=True):
        task = row["task"].lower().replace("-", "")
        stage = load_recipe(name, [f"data.task={task}"]).stages[0]
        views = list(stage.objective.options.dropout)
        ours = (stage.optim.lr, stage.optim.batch_size, views, stage.optim.epochs)
        printed = row["learning_rate"], row["batch_size"], row["dropout"], row["epochs"]
        assert (*ours[:2], str(views), ours[3]) == printed, (name, task)


def test_sts_b_has_the_classes_and_the_loss_of_footnote_3() -> None:
    stage = load_recipe("supcl-seq", ["data.task=stsb"]).stages[0]
    assert stage.objective.options.classes == "tenths"
    for name in ("glue-finetune", "glue-dropout-augmented"):
        assert load_recipe(name, ["data.task=stsb"]).stages[0].objective.options.classes == "score"


def test_rows_that_numbers_name_set_these_numbers() -> None:
    keys = {
        "lambda": "objective.weight",
        "tau": "objective.temperature",
        "epochs": "optim.epochs",
        "learning_rate": "optim.lr",
    }
    compared = 0
    for table in (table for paper in PAPERS for table in load_paper(paper).values()):
        if len(table.key) > 1 or table.key[0] not in keys:
            continue
        for row, source in table.sources.items():
            own = [value for key, value in source.set.items() if key.endswith(keys[table.key[0]])]
            assert own, (table.name, row)
            assert {float(row)} == {*own}, (table.name, row)
            compared += 1
    assert compared > 20


def test_grids_search_what_the_papers_searched() -> None:
    rates = [1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5]  # tsukagoshi, appendix A
    searched = {
        ("sbert-lr", "optim.lr"): rates,
        ("defsent-lr", "optim.lr"): rates,
        ("supcl-seq-lr", "stage.0.optim.lr"): [5e-5, 1e-4],  # sedghamiz, appendix A
        ("supcl-seq-lr", "stage.0.objective.dropout"): [[0.1, 0.1], [0.0, 0.1, 0.2, 0.3, 0.4]],
        ("multitask-given-lr", "stage.0.optim.lr"): [1e-5, 2e-5, 3e-5],  # chen §5.3
        ("multitask-given-batch", "stage.4.optim.batch_size"): [16, 32, 64],  # chen §5.3
        ("snli-supcl-lambda", "objective.weight"): [0.1, 0.3, 0.5, 0.7, 0.9],  # liao table 6
        ("snli-supcl-tau", "objective.temperature"): [0.1, 0.3, 0.5, 0.7, 0.9, 1.0],
        ("snli-supcl-sentences", "objective.positives"): [3, 3, "all"],  # liao §5.3
        ("snli-supcl-sentences", "objective.negatives"): [3, "all", "all"],
    }
    for (name, key), values in searched.items():
        choices = [
            own[key]
            for axis in load_grid(name).axes.values()
            for own in axis.values()
            if key in own
        ]
        assert choices == values, (name, key)


@pytest.mark.parametrize("paper", PAPERS)
def test_the_stated_hyper_parameters_are_in_the_named_sections(paper: str) -> None:
    for statement in (one for one in STATED if one.paper == paper):
        assert is_said(paper, statement.words, statement.section), statement
