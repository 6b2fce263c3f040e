"""The models behind a reproduced table."""

from embedlab.core.settings import Settings
from embedlab.papers.file import select_tables
from embedlab.papers.matching_runs import Member
from embedlab.workflows.options.reproduce import ReproductionOptions
from embedlab.workflows.reproduce.models import EvaluatedRows, absent_rows


def test_one_failure_is_one_note_for_all_rows_that_it_costs() -> None:
    (table,) = select_tables("tsukagoshi", "figure2_sources_combined")
    options = ReproductionOptions()
    known = EvaluatedRows(evaluations={}, answers={}, scored=None, missing=(), absent={"d@2": "damaged"})
    members = {
        ("DefSent", ""): (Member(name="d@1", seed=1), Member(name="d@2", seed=2)),
        ("S+D", ""): (Member(name="s-d@1", seed=1),),
    }
    assert list(absent_rows(table, members, known, {"SBERT": "training failed, seed 1, 2: no space"}, options, Settings())) == [
        "absent: AVERAGE, SBERT: training failed, seed 1, 2: no space",
        "absent: DefSent (d@2): damaged",
    ]
    assert known.present(members)["DefSent", ""] == (Member(name="d@1", seed=1),)
