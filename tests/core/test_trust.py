"""The settings of a folder decide nothing but how things are shown and computed until the user
trusts the folder.
"""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from embedlab.core import plugins
from embedlab.core.errors import UsageError
from embedlab.core.paths import user_config_file
from embedlab.core.plugin_files import UntrustedError
from embedlab.core.settings import Settings, load_settings, trust_notice
from embedlab.core.trust import FREE
from embedlab.workflows.trust import end_trust, trust_place, trusted_places

POOLING = (
    'PLUGINS = {"poolings": {"twice": "pool"}}\n\n\ndef pool(tokens, mask):\n    return 2 * '
    "tokens[:, 0]\n"
)
WANTED = (
    'data = "corpora"\nruns = "theirs"\ncache = "cache"\ncache_gib = 0.001\noffline = '
    'false\nformat = "csv"\nthreads = 3\n'
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cloned folder, which is the current one."""
    place = tmp_path / "clone"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def project(folder: Path) -> Callable[[str], None]:
    return lambda text: (folder / "embedlab.toml").write_text(text, encoding="utf-8") and None


def values(**flags: Any) -> dict[str, Any]:
    settings = load_settings(flags)[0]
    return {
        key: getattr(settings, key) for key in ("data", "runs", "cache_gib", "format", "threads")
    }


DEFAULTS = {"data": None, "runs": Path("runs"), "cache_gib": 8.0, "format": "csv", "threads": 3}


@pytest.mark.parametrize(
    ("file", "head"), [("embedlab.toml", ""), ("pyproject.toml", "[tool.embedlab]\n")]
)
def test_an_untrusted_folder_sets_formats_and_how_to_compute_alone(
    folder: Path, file: str, head: str
) -> None:
    (folder / file).write_text(head + WANTED)
    assert values() == DEFAULTS
    origins = load_settings({"runs": Path("own")})[1]
    notice = trust_notice(origins, {"data", "runs", "cache"})
    assert (
        notice
        == f"{file}: 'data', 'cache' without effect, as this folder is not trusted; read the "
        f"file, then type: embedlab trust ."
    )
    assert trust_notice(origins, {"format"}) == ""

    trust_place(folder, plugins=True)
    assert values() == {
        "data": Path("corpora"),
        "runs": Path("theirs"),
        "cache_gib": 0.001,
        "format": "csv",
        "threads": 3,
    }
    assert trust_notice(load_settings({})[1], {"data"}) == ""


def test_a_new_setting_needs_trust_until_it_is_listed() -> None:
    names = {one.name for one in fields(Settings)}
    assert names > FREE
    assert names - FREE == {
        "data",
        "runs",
        "cache",
        "cache_gib",
        "offline",
        "endpoint_check",
        "plugins",
    }


def test_a_folder_may_stay_offline_and_may_not_go_online(project: Callable[[str], None]) -> None:
    project("offline = true")
    assert load_settings({})[0].offline
    user_config_file().parent.mkdir(parents=True)
    user_config_file().write_text("offline = true")
    project("offline = false")
    assert load_settings({})[0].offline


def test_other_values_must_be_trusted_again_and_other_formats_not(
    folder: Path, project: Callable[[str], None]
) -> None:
    project(WANTED)
    trust_place(folder, plugins=True)
    project("# a comment\n" + WANTED.replace("csv", "json").replace("threads = 3", "threads = 2"))
    assert values()["data"] == Path("corpora")
    project(WANTED.replace("corpora", "elsewhere"))
    assert values() == DEFAULTS
    assert "changed since it was trusted" in trust_notice(load_settings({})[1], {"data"})


def test_trust_in_a_folder_is_not_trust_in_its_copy_or_link_is(
    folder: Path, project: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(WANTED)
    trust_place(Path(), plugins=True)
    (tmp_path / "link").symlink_to(folder)
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "embedlab.toml").write_text(WANTED)
    monkeypatch.chdir(tmp_path / "copy")
    assert values() == DEFAULTS
    monkeypatch.chdir(tmp_path / "link")
    assert values()["data"] == Path("corpora")


def test_the_users_own_settings_and_environment_need_no_trust(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_config_file().parent.mkdir(parents=True)
    user_config_file().write_text('runs = "mine"')
    monkeypatch.setenv("EMBEDLAB_DATA", "corpora")
    settings = load_settings({})[0]
    assert (settings.runs, settings.data) == (Path("mine"), Path("corpora"))


def pooling() -> plugins.Plugin:
    return plugins.require("poolings", "twice")


def test_a_plugin_of_a_trusted_folder_may_change_until_its_settings_do(
    folder: Path, project: Callable[[str], None]
) -> None:
    project("[plugins]\nfiles = ['mine.py']\n")
    (folder / "mine.py").write_text(POOLING)
    with pytest.raises(UntrustedError) as refused:
        pooling().load()
    assert (
        refused.value.hint
        == "read it, then type: embedlab trust . (it may then change), or as it is: embedlab "
        "plugins trust mine.py"
    )

    trust_place(folder, plugins=True)
    pooling().load()
    (folder / "mine.py").write_text(POOLING + "# an edit\n")
    pooling().load()
    project("data = 'theirs'\n[plugins]\nfiles = ['mine.py']\n")
    with pytest.raises(UntrustedError):
        pooling().load()


def test_a_folder_is_trusted_without_its_plugins_where_that_is_typed(
    folder: Path, project: Callable[[str], None]
) -> None:
    project("data = 'corpora'\n[plugins]\nfiles = ['mine.py']\n")
    (folder / "mine.py").write_text(POOLING)
    trust_place(folder, plugins=False)
    assert load_settings({})[0].data == Path("corpora")
    with pytest.raises(UntrustedError):
        pooling().load()


def test_trust_in_a_folder_does_not_reach_files_outside_or_behind_links(
    folder: Path, project: Callable[[str], None], tmp_path: Path
) -> None:
    (tmp_path / "outside.py").write_text(POOLING)
    project("[plugins]\nfiles = ['../outside.py']\n")
    trust_place(folder, plugins=True)
    with pytest.raises(UntrustedError):
        pooling().load()
    project("[plugins]\nfiles = ['mine.py']\n")
    (folder / "mine.py").write_text(POOLING)
    trust_place(folder, plugins=True)
    (folder / "mine.py").unlink()
    (folder / "mine.py").symlink_to(tmp_path / "outside.py")
    with pytest.raises(UntrustedError):
        pooling().load()


def test_trust_is_listed_and_ended(folder: Path, project: Callable[[str], None]) -> None:
    project("data = 'corpora'\n[plugins]\nfiles = ['mine.py']\n")
    (folder / "mine.py").write_text(POOLING)
    assert (
        trust_place(folder / "embedlab.toml", plugins=True).covers
        == "data = corpora; plug-in files mine.py, also when they change"
    )
    trust_place(Path("mine.py"), plugins=True)
    (folder / "mine.py").write_text(POOLING + "# an edit\n")
    assert [(one.place, one.state) for one in trusted_places()] == [
        (str(folder), "trusted"),
        (str(folder / "mine.py"), "changed since it was trusted"),
    ]
    assert end_trust(Path()) == str(folder)
    assert end_trust(Path("mine.py")) == str(folder / "mine.py")
    assert trusted_places() == []
    assert values()["data"] is None
    with pytest.raises(UsageError, match="is not trusted"):
        end_trust(Path())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "has no embedlab.toml"),
        ("format = 'csv'", "sets nothing that needs trust"),
        ("dat = 3", "unknown key"),
    ],
)
def test_a_folder_with_nothing_to_trust_is_refused(
    folder: Path, project: Callable[[str], None], text: str | None, message: str
) -> None:
    if text is not None:
        project(text)
    with pytest.raises(UsageError, match=message):
        trust_place(folder, plugins=True)
