"""What a machine has, and what of it cannot be used."""

import shutil
from pathlib import Path

import pytest

from embedlab.commands.doctor import _folders, _hub, _versions
from embedlab.core.settings import Settings


@pytest.mark.parametrize(
    ("is_offline", "answers", "found"),
    [
        (True, True, "switched off"),
        (False, True, "it answers"),
        (False, False, "it does not answer, "),
    ],
)
def test_the_hub_is_reported_by_whether_it_answers(
    is_offline: bool, answers: bool, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("embedlab.core.network.is_reachable", lambda: answers)
    (hub,) = _hub(Settings(offline=is_offline))
    assert hub.found.startswith(found)
    assert not hub.problem


def test_a_folder_that_is_not_there_is_a_problem_and_a_missing_package_is_not(
    tmp_path: Path,
) -> None:
    (tmp_path / "runs").write_text("a file where the folder should be")
    settings = Settings(
        data=tmp_path / "nothing", runs=tmp_path / "runs", cache=tmp_path / "cache", device="cpu"
    )
    problems = {
        finding.check: finding.problem
        for finding in [*_versions(), *_folders(settings)]
        if finding.problem
    }
    free = next(one.found for one in _folders(settings) if one.check == "cache folder")
    expected = shutil.disk_usage(tmp_path).free / 2**30
    assert float(free.split(", ")[-1].split()[0]) == pytest.approx(expected, abs=0.5)
    assert problems == {
        "data folder": "no such folder",
        "runs folder": f"{str(tmp_path / 'runs')!r} is not a folder",
    }
