"""Every task keeps the contract, and nothing outside of their folder goes by a task's name."""

from dataclasses import replace

import polars as pl
import pytest

from embedlab.core.errors import MissingError
from embedlab.core.names import task_names
from embedlab.data.dataset import Part
from embedlab.encoders.encoder import EncoderFacts
from embedlab.tasks.task import evaluation_of, outcomes_of, task
from tests.stored_scores import part_of as made_part
from tests.stored_scores import score


@pytest.mark.parametrize("name", task_names())
def test_a_task_has_the_name_that_it_is_found_by_and_says_what_it_leaves(name: str) -> None:
    found = task(name)
    assert found.name == name
    assert found.summary
    assert all(found.has_dataset(one) for one in found.datasets)


def part_of(dataset: str = "questions", split: str = "test") -> Part:
    frame = pl.DataFrame({"sentence1": ["a b", "c", "d"], "sentence2": ["a", "c d", "e"]})
    return made_part(dataset, frame, split, expected_rows=3)


class Encoder:
    """What is stored of an encoder."""

    name, fingerprint = "made", "ab"
    facts = EncoderFacts(
        precision="bf16", pooling="cls", max_tokens=77, truncated=3, notes=("of the encoder",)
    )


def test_an_evaluation_says_what_decided_its_numbers() -> None:
    part, one = part_of(), score("questions", 0.5, "accuracy")
    state = replace(part.state, partial=True, origin="tiny")
    found = evaluation_of("own", Encoder(), [state], [one], ["of the task"])
    assert (found.task, found.model, found.fingerprint) == ("own", "made", "ab")
    facts = (found.precision, found.pooling, found.max_tokens, found.truncated)
    assert facts == ("bf16", "cls", 77, 3)
    assert found.notes == ("of the encoder", "of the task")
    assert found.scores == (one,)
    assert [(read["name"], read["rows"]) for read in found.data] == [("questions", 3)]
    assert found.marks == ("partial", "generated")
    assert evaluation_of("own", Encoder(), [part.state], []).marks == ()


def test_what_a_model_predicted_of_each_row_is_stored_with_all_classes() -> None:
    part = part_of(split="validation")
    evaluation = evaluation_of("own", Encoder(), [part.state], [])
    found = outcomes_of(evaluation, part, ["yes", "no", "no"], ["no", "no", "perhaps"])
    assert (found.task, found.dataset, found.split) == ("own", "questions", "validation")
    assert (found.model, found.fingerprint) == ("made", "ab")
    assert found.classes == ("no", "perhaps", "yes")
    rows = found.items.select("item", "gold", "predicted").rows()
    assert rows == [(0, 2, 0), (1, 0, 0), (2, 0, 1)]
    assert found.items["sentence1"].to_list() == part.frame["sentence1"].to_list()
    scores = outcomes_of(evaluation, part, [1, 2.5, 3], [0.1, 0.2, 0.3], is_class=False)
    assert (scores.classes, scores.items["gold"].to_list()) == ((), [1, 2.5, 3])


def test_outcomes_of_a_filtered_part_need_the_numbers_of_its_rows() -> None:
    part = part_of()
    evaluation = evaluation_of("own", Encoder(), [part.state], [])
    fewer = replace(part, frame=part.frame[1:])
    with pytest.raises(MissingError, match="2 of the 3 rows of 'questions'"):
        outcomes_of(evaluation, fewer, ["no", "no"], ["no", "yes"])
    numbered = outcomes_of(evaluation, fewer, ["no", "no"], ["no", "yes"], rows=[1, 2])
    assert numbered.items["item"].to_list() == [1, 2]
