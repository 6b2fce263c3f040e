"""What commands say of a folder that is not trusted, and `embedlab trust`."""

from pathlib import Path

from tests.cli.conftest import Embedlab

VAIN = "without effect, as this folder is not trusted; read the file, then type: embedlab trust ."


def reported(err: str) -> list[str]:
    return [line for line in err.splitlines() if "trust" in line]


def test_one_line_reports_it_in_the_commands_that_would_use_it(embedlab: Embedlab) -> None:
    Path("embedlab.toml").write_text('runs = "theirs"\ncache = "cache"\n')
    assert reported(embedlab("runs", "ls", "--quiet").err) == [
        f"embedlab: warning: embedlab.toml: 'runs', 'cache' {VAIN}"
    ]
    assert reported(embedlab("runs", "ls", "--quiet", "--runs", "own").err) == [
        f"embedlab: warning: embedlab.toml: 'cache' {VAIN}"
    ]
    assert reported(embedlab("cache", "clear", "--yes").err) == [
        f"embedlab: warning: embedlab.toml: 'cache' {VAIN}"
    ]
    assert reported(embedlab("recipes").err) == []
    assert VAIN in embedlab("config").out


def test_a_folder_is_trusted_listed_and_revoked(embedlab: Embedlab) -> None:
    Path("embedlab.toml").write_text('runs = "theirs"\ncache = "cache"\n')
    assert embedlab("trust", "--json").json["covers"] == "runs = theirs; cache = cache"
    assert reported(embedlab("runs", "ls", "--quiet").err) == []
    assert embedlab("config", "--json").row(setting="runs")["value"] == "theirs"
    assert embedlab("trust", "--list", "--json").rows[0]["state"] == "trusted"
    assert embedlab("trust", "--revoke").code == 0
    refused = embedlab("trust", "--revoke")
    assert (refused.code, refused.err.splitlines()[1]) == (
        2,
        "hint: `embedlab trust --list` shows what is",
    )


def test_a_file_that_declares_nothing_is_refused(embedlab: Embedlab) -> None:
    Path("mine.py").write_text("1")
    assert embedlab("trust", "mine.py").code == 3
    assert embedlab("trust", "absent").code == 3
    assert embedlab("trust", "/dev/zero").code == 3


def test_a_place_that_is_absent_is_named_as_it_was_typed(embedlab: Embedlab) -> None:
    answer = embedlab("trust", "absent.py")
    assert answer.code == 3
    assert answer.err.splitlines() == [
        "embedlab: error: no file or folder 'absent.py'",
        "hint: name a folder with an embedlab.toml, or a plug-in file",
    ]
