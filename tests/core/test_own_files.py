"""What is published names no folder of this machine."""

from pathlib import Path

import pytest

from embedlab.core.paths import hide_folders


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("n = 60 items of {}/one/p.csv. More", "n = 60 items of p.csv. More"),
        ("{0}/one/p.csv/fifth-1, {0}/one/p.csv", "p.csv/fifth-1, p.csv"),
        ("{0}/one/p.csv beside {0}/two/p.csv?x=1", "one/p.csv beside two/p.csv?x=1"),
        ("vectors:{}/one/p.csv+dice", "vectors:p.csv+dice"),
        ("--html '{}/new folder/page.html'", "--html 'new folder/page.html'"),
        ("<td>{}/one/p.csv</td>", "<td>p.csv</td>"),
        (
            "and/or 1/2 /not/here http://host/one/p.csv",
            "and/or 1/2 /not/here http://host/one/p.csv",
        ),
    ],
)
def test_a_path_of_this_machine_is_published_by_its_end(
    tmp_path: Path, text: str, shown: str
) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "p.csv").touch()
    assert hide_folders(text.format(tmp_path)) == shown
