"""Plug-ins are listed without running them, run only where the user chose them, and never hide what
is shipped.
"""

import os
import py_compile
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from embedlab.core import plugins
from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.names import can_load_objective
from embedlab.core.paths import user_config_file
from embedlab.core.settings import load_settings, name_files
from embedlab.models import grammar
from embedlab.tasks.task import task

POOLING = (
    'PLUGINS = {"poolings": {"twice": "pool"}}\n\n\ndef pool(tokens, mask):\n    return 2 * '
    "tokens[:, 0]\n"
)
Write = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder outside the package, which is the current one."""
    place = tmp_path / "project"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def write(folder: Path) -> Write:
    """Write a plug-in file and name it in the user's settings."""

    def write(content: str, name: str = "mine.py") -> Path:
        path = folder / name
        path.write_text(content, encoding="utf-8")
        settings = user_config_file()
        settings.parent.mkdir(parents=True, exist_ok=True)
        before = load_settings({})[0].plugins.files if settings.exists() else ()
        files = ", ".join(f"'{file}'" for file in dict.fromkeys([*before, path]))
        settings.write_text(f"[plugins]\nfiles = [{files}]\n", encoding="utf-8")
        return path

    return write


class _Tokens:
    def __getitem__(self, _: object) -> int:
        return 3


TASK = """
from embedlab.tasks.task import Task

PLUGINS = {"tasks": {"mine": "TASK"}}


class Mine(Task):
    name, summary = "mine", "a task of one's own"


"""


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        (
            TASK + 'TASK = Task(name="mine", summary="as before", evaluate=print)',
            r"write class MyTask\(Task\)",
            r"docs/plugins\.md",
        ),
        (
            TASK + "TASK = Mine()",
            r"fails at line 11: TypeError: .*Mine.*'?evaluate'?",
            "correct it",
        ),
        (TASK + "TASK = Mine", "is a class, not an object of it", r"TASK = Mine\(\)"),
        (TASK + "TASK = 3", "is of type int, not a Task", r"docs/plugins\.md"),
    ],
)
def test_a_task_that_is_none_is_refused_with_what_to_write(
    content: str, message: str, hint: str, write: Write
) -> None:
    write(content)
    with pytest.raises(EmbedlabError, match=message) as refused:
        task("mine")
    assert re.search(hint, refused.value.hint)


@pytest.mark.parametrize("file", ["embedlab.toml", "pyproject.toml", "lab.toml"])
def test_no_file_that_a_folder_or_an_option_names_is_a_plug_in(folder: Path, file: str) -> None:
    (folder / "mine.py").write_text(POOLING)
    head = "tool.embedlab." if file == "pyproject.toml" else ""
    (folder / file).write_text(f"[{head}plugins]\nfiles = ['mine.py']\n")

    with name_files(Path(file) if file == "lab.toml" else None, []):
        assert plugins.names("poolings") == plugins.shipped_names("poolings")
        with pytest.raises(UsageError, match="'plugins' cannot be set there"):
            load_settings({})


def test_a_file_of_the_environment_and_one_that_is_typed_run_also_in_another_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "mine.py").write_text(POOLING)
    (folder / "other.py").write_text(POOLING.replace("twice", "other"))
    monkeypatch.setenv("EMBEDLAB_PLUGINS", "mine.py")
    assert plugins.require("poolings", "twice").load()

    with name_files(None, [Path("other.py")]):
        (folder / "deeper").mkdir()
        monkeypatch.chdir(folder / "deeper")
        assert plugins.require("poolings", "twice").load()
        assert plugins.require("poolings", "other").load()
    assert os.environ["EMBEDLAB_PLUGINS"] == "mine.py"
    assert plugins.find("poolings", "other") is None


def test_listing_runs_nothing(folder: Path, write: Write) -> None:
    write(f"open('ran', 'w').close()\n{POOLING}")

    assert "twice" in plugins.names("poolings")
    assert not (folder / "ran").exists()
    plugins.require("poolings", "twice").load()
    assert (folder / "ran").exists()


def test_a_compiled_file_beside_a_plug_in_does_not_run(folder: Path, write: Write) -> None:
    path = write("raise RuntimeError")
    py_compile.compile(str(path), doraise=True)
    stamp = path.stat()
    path.write_text(POOLING, encoding="utf-8")
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))

    assert plugins.require("poolings", "twice").load()


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("raise ValueError('no\\nsuch')\n", "mine.py' fails at line 2: ValueError: no"),
        (
            "import no_such_module\n",
            "mine.py' fails at line 2: ModuleNotFoundError: No module named 'no_such_module'",
        ),
        ("raise SystemExit\n", "mine.py' fails at line 2: SystemExit"),
    ],
)
def test_a_file_that_fails_is_refused_in_one_line_with_file_and_error(
    content: str, line: str, write: Write
) -> None:
    write(f'PLUGINS = {{"poolings": {{"twice": "pool"}}}}\n{content}')

    with pytest.raises(MissingError) as refused:
        plugins.require("poolings", "twice").load()
    assert line in refused.value.message
    assert "\n" not in refused.value.message
    with plugins.gathered_faults() as faults:
        assert set(plugins.load_all("poolings", plugins.Plugin.load)) == set(
            plugins.shipped_names("poolings")
        )
    assert len(faults) == 1
    assert line in faults[0]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("def", "is not Python, line 1"),
        ("a = 1", "has no PLUGINS at its top level"),
        ("PLUGINS = make()", "is not a literal"),
        ("PLUGINS = ['poolings']", "is not kind"),
        ("PLUGINS = {}\nPLUGINS = {}", "has more than one PLUGINS"),
        ("PLUGINS = {'pooling': {'a': 'b'}}", "adds 'pooling', which is not a kind"),
    ],
)
def test_a_file_that_declares_nothing_is_one_line(content: str, line: str, write: Write) -> None:
    write(content)

    with plugins.gathered_faults() as faults:
        assert plugins.names("tasks") == plugins.shipped_names("tasks")
    assert len(faults) == 1
    assert line in faults[0]
    assert [str(error.message) in faults[0] for _, error in plugins.file_faults()] == [True]


@pytest.mark.parametrize(
    ("kind", "name", "fault"),
    [
        ("tasks", "sts", "embedlab ships one of that name"),
        ("encoders", "word-vectors", "embedlab ships one of that name"),
        ("tasks", "all", ""),
        ("encoders", "average", ""),
        ("datasets", "transfer", ""),
        ("poolings", "a:b", ""),
    ],
)
def test_a_name_that_is_shipped_or_has_another_meaning_is_not_used(
    kind: plugins.Kind, name: str, fault: str, write: Write
) -> None:
    write(f"PLUGINS = {{{kind!r}: {{{name!r}: 'thing'}}}}\nraise RuntimeError\n")

    with plugins.gathered_faults() as faults:
        assert plugins.names(kind) == plugins.shipped_names(kind)
    assert len(faults) == 1
    assert fault in faults[0]


@pytest.mark.parametrize(("kind", "name"), [("properties", "words"), ("objectives", "nli_softmax")])
def test_a_file_that_a_shipped_name_hides_is_noted_where_that_is_looked_up(
    kind: plugins.Kind, name: str, write: Write
) -> None:
    write(f"PLUGINS = {{{kind!r}: {{{name!r}: 'thing'}}}}\n")

    for _ in range(2):
        with plugins.gathered_faults() as faults:
            assert plugins.require(kind, name).is_shipped
            plugins.require(kind, name)
        assert [repr(name) in fault for fault in faults] == [True]


def test_prefixes_of_combinations_are_reserved() -> None:
    assert set(grammar.KINDS) < plugins.RESERVED["encoders"]


def test_an_installed_package_adds_by_entry_points(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    information = folder / "site" / "their_package-1.2.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: their-package\nVersion: 1.2\n", encoding="utf-8"
    )
    (information / "entry_points.txt").write_text(
        "[embedlab.poolings]\ntwice = their_pooling:pool\nbroken = their_broken:pool\n",
        encoding="utf-8",
    )
    (folder / "site" / "their_pooling.py").write_text(POOLING, encoding="utf-8")
    (folder / "site" / "their_broken.py").write_text("1 / 0", encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder / "site"))

    found = plugins.require("poolings", "twice")
    assert found.origin == "their-package 1.2"
    assert "their_pooling" not in sys.modules
    assert found.load()(_Tokens(), None) == 6
    before = found.identity
    (folder / "site" / "their_pooling.py").write_text(POOLING + "# more\n", encoding="utf-8")
    plugins._of_packages.cache_clear()  # as another process would begin
    plugins.package_entries.cache_clear()
    assert plugins.require("poolings", "twice").identity != before
    with pytest.raises(
        MissingError,
        match=r"'their-package 1\.2' fails to import 'their_broken': ZeroDivisionError",
    ):
        plugins.require("poolings", "broken").load()


def test_the_dashboard_loads_no_plugin(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write(POOLING.replace("poolings", "objectives"))
    monkeypatch.setattr(plugins, "_loading_refused", [])
    plugins.refuse_loading("the dashboard loads none")

    assert "twice" in plugins.names("objectives")
    assert not can_load_objective("twice")
    assert can_load_objective("nli_softmax")
    with pytest.raises(MissingError, match="the dashboard loads none"):
        plugins.require("objectives", "twice").load()
    assert list(plugins.load_all("objectives", plugins.Plugin.load)) == plugins.shipped_names(
        "objectives"
    )
