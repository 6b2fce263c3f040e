"""What a machine has, and what of it cannot be used."""

from pathlib import Path

from embedlab.core.settings import Settings
from embedlab.workflows.doctor import examine


def test_a_folder_that_is_not_there_is_a_problem_and_a_missing_package_is_not(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file where the folder should be")
    settings = Settings(data=tmp_path / "nothing", runs=tmp_path / "runs", cache=tmp_path / "cache", device="cpu")
    problems = {finding.check: finding.problem for finding in examine(settings) if finding.problem}
    assert problems == {"data folder": "no such folder", "runs folder": f"{str(tmp_path / 'runs')!r} is not a folder"}
