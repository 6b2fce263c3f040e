"""The models behind a reproduced table."""

from dataclasses import replace
from pathlib import Path

import pytest

import embedlab
from embedlab.api import NotebookSession
from embedlab.commands.reproduce_models import (
    EvaluatedRows,
    absent_rows,
    evaluate_models,
    pairs_by,
    with_named_rows,
)
from embedlab.commands.reproduce_plan import ReproductionOptions
from embedlab.commands.reproduce_run import reproduce_tables
from embedlab.comparison.comparison import Slicing
from embedlab.core.errors import UsageError
from embedlab.core.settings import Settings
from embedlab.experiments.matching_runs import Member, RowMembers
from embedlab.experiments.paper_file import select_tables
from embedlab.runs.store import RunFolder


def test_one_failure_is_one_note_for_all_rows_that_it_costs() -> None:
    (table,) = select_tables("tsukagoshi", "figure2_sources_combined")
    options = ReproductionOptions()
    known = EvaluatedRows(
        evaluations={},
        answers={},
        gathered=None,
        missing_notes=(),
        absence_reasons={"d@2": "damaged"},
    )
    members = {
        "DefSent": RowMembers(own=(Member(name="d@1", seed=1), Member(name="d@2", seed=2))),
        "S+D": RowMembers(own=(Member(name="s-d@1", seed=1),)),
    }
    assert list(
        absent_rows(
            table,
            members,
            known,
            {"SBERT": "training failed, seed 1, 2: no space"},
            options,
            Settings(),
        )
    ) == [
        "absent: AVERAGE, SBERT: training failed, seed 1, 2: no space",
        "absent: DefSent (d@2): damaged",
    ]
    left = members["DefSent"].without(known.absence_reasons)
    assert left == RowMembers(own=(Member(name="d@1", seed=1),))


def test_a_named_model_takes_the_place_of_a_row_and_of_scores_alone_no_other_row_has_one(
    tmp_path: Path,
) -> None:
    session = NotebookSession(settings=Settings(runs=tmp_path))
    members = {name: RowMembers(own=(Member(name=f"{name}@1", seed=1),)) for name in "AB"}
    beside = with_named_rows(members, ReproductionOptions(models=("A=dice", "C=dice")), session)
    assert {row: own.names for row, own in beside.items()} == {"A": ["dice"], "B": ["B@1"]}
    assert beside["A"].runs == []  # whose training is looked at
    alone = with_named_rows(
        members, ReproductionOptions(models=("A=dice",), from_="scores"), session
    )
    assert {row: own.names for row, own in alone.items()} == {"A": ["dice"], "B": []}


def test_a_run_is_the_same_run_however_it_is_read(tmp_path: Path) -> None:
    for name in ("a", "b"):
        RunFolder.of(tmp_path, name, 1).model.mkdir(parents=True)
    session = NotebookSession(settings=Settings(runs=tmp_path))
    members = {"A": RowMembers()}
    for model, runs in (("a?pooling=cls", {"a@1"}), ("average:a@dim=2,b", {"a@1", "b@1"})):
        options = ReproductionOptions(models=(f"A={model}",))
        (member,) = with_named_rows(members, options, session)["A"].own
        assert member.runs == runs


def test_unseen_items_are_pairs_of_sets_and_a_table_of_other_numbers_says_so() -> None:
    (pairs,), (transfer,), (figure,) = (
        select_tables(*name)
        for name in (("liao", "table2"), ("liao", "table3"), ("tsukagoshi", "figure3_dice"))
    )
    assert [pairs_by(table) for table in (pairs, transfer, figure)] == ["dataset", None, "dice"]
    session = NotebookSession(settings=Settings())
    with pytest.raises(UsageError, match="its numbers are not of sets of pairs"):
        evaluate_models(transfer, {}, ReproductionOptions(unseen=True), session)
    found = evaluate_models(transfer, {}, ReproductionOptions(unseen=True, claims=True), session)
    assert found.missing_notes == (
        "table3_transfer: --unseen selects pairs, and its numbers are not of sets of pairs",
    )


def test_a_table_of_example_pairs_has_the_cosines_of_the_models_that_are_here(
    tmp_path: Path,
) -> None:
    settings = Settings(runs=tmp_path / "runs", cache=tmp_path / "cache", offline=True)
    session = NotebookSession(settings=settings)
    tables = select_tables("tsukagoshi", "table2_example_pairs")
    options = ReproductionOptions(
        paper="tsukagoshi", table="table2_example_pairs", from_="runs", models=("sbert=wordllama",)
    )
    (reproduction,) = reproduce_tables(tables, options, session)
    (answer,) = reproduction.answers
    pairs = tables[0].pairs
    expected = embedlab.score_pairs("wordllama", *map(list, zip(*pairs, strict=True)))
    found = reproduction.numbers.filter(row="sbert")
    assert [*found["column"]] == [*tables[0].columns]
    assert [*found["ours"]] == pytest.approx([*map(float, expected)], abs=1e-6)
    assert {*reproduction.numbers["row"]} == {"dice", "wo_ft", "sbert", "defsent"}
    assert "[training text unknown]" in answer.shown_title
    assert any(note.startswith("absent: wo_ft: ") for note in answer.notes)
    named = replace(options, models=("sbert=wordllama", "defsent=wordllama"))
    (without_encoder,) = reproduce_tables(tables, named, session)
    assert not any("?pooling" in note for note in without_encoder.answers[0].notes)


def test_a_figure_of_unseen_pairs_marks_no_model_with_what_was_left_out(
    shared_data: Path, tmp_path: Path
) -> None:
    """Of a data folder with the first pairs of each source alone: a model encodes them."""
    source = shared_data / "STS" / "STS15-en-test"
    folder = tmp_path / "STS" / source.name
    folder.mkdir(parents=True)
    for file in source.glob("STS.*.txt"):
        rows = file.read_text("utf-8").splitlines(keepends=True)
        (folder / file.name).write_text("".join(rows[:60]), encoding="utf-8")
    (tmp_path / "SNLI").symlink_to(shared_data / "SNLI")
    settings = Settings(
        data=tmp_path, runs=tmp_path / "runs", cache=tmp_path / "cache", allow_partial=True
    )
    session = NotebookSession(settings=settings)
    (figure,) = select_tables("tsukagoshi", "figure2_sources")
    table = replace(figure, datasets=("sts15",))
    members = {"SBERT": RowMembers(own=(Member(name="minilm", seed=None),))}
    for is_unseen in (False, True):
        options = ReproductionOptions(unseen=is_unseen)
        rows = evaluate_models(table, members, options, session)
        gathered = rows.gathered
        # the encoder that it started from is not known
        unread = [note for note in rows.missing_notes if "not at hand: minilm: " in note]
        assert len(unread) == is_unseen
        compared = gathered.compare(Slicing(by="dataset"))
        assert bool(compared.shared["minilm"]) != is_unseen
        assert ("overlap" in gathered.marks) != is_unseen
