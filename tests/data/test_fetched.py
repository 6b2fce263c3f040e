"""The record of what was fetched into a data folder."""

from pathlib import Path

from embedlab.data.manifest import RECORD, record, revision_of


def test_a_record_is_one_line_a_file_in_their_order_whoever_wrote_first(tmp_path: Path) -> None:
    record(tmp_path, {"b": "2", "a": "1"}, "owner/one@r1")
    record(tmp_path, {"c": "3"}, "owner/two@r2")
    record(tmp_path, {"b": "4"}, "owner/two@r2")
    assert (tmp_path / RECORD).read_text(encoding="utf-8").splitlines() == [
        "a\t1\towner/one@r1",
        "b\t4\towner/two@r2",
        "c\t3\towner/two@r2",
    ]


def test_files_have_a_revision_where_all_come_from_it_unchanged(tmp_path: Path) -> None:
    assert revision_of(tmp_path, {"a": "1"}) is None
    record(tmp_path, {"a": "1", "b": "2"}, "owner/one@r1")
    record(tmp_path, {"c": "3"}, "owner/two@r2")
    assert revision_of(tmp_path, {"a": "1", "b": "2"}) == "owner/one@r1"
    assert revision_of(tmp_path, {"a": "1", "b": "changed"}) is None
    assert revision_of(tmp_path, {"a": "1", "c": "3"}) is None
    assert revision_of(tmp_path, {"a": "1", "other": "9"}) is None
