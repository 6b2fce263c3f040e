"""The record of what was fetched into a data folder."""

from pathlib import Path

from embedlab.data.manifest import RECORD, record_revision, revision_of


def test_files_have_the_revision_of_their_record_where_all_come_from_it_unchanged(
    tmp_path: Path,
) -> None:
    assert revision_of(tmp_path, {"a": "1"}) is None
    record_revision(tmp_path, {"b": "2", "a": "1"}, "owner/one@r1")
    assert revision_of(tmp_path, {"a": "1", "b": "2"}) == "owner/one@r1"
    record_revision(tmp_path, {"c": "3", "b": "4"}, "owner/two@r2")
    lines = ["a\t1\towner/one@r1", "b\t4\towner/two@r2", "c\t3\towner/two@r2"]
    assert (tmp_path / RECORD).read_text(encoding="utf-8").splitlines() == lines
    for others in ({"a": "changed"}, {"a": "1", "c": "3"}, {"a": "1", "other": "9"}):
        assert revision_of(tmp_path, others) is None
