"""Settings: which source wins, where a value came from, and what is refused."""

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.core.paths import user_config_file
from embedlab.core.schema import build, unbuild
from embedlab.core.settings import SHOWN, Settings, load_settings, process_rank


def origins(
    flags: dict[str, object], environment: dict[str, str], folder: Path
) -> dict[str, tuple[object, str]]:
    return {
        origin.key: (origin.value, origin.source)
        for origin in load_settings(flags, environment=environment, folder=folder)[1]
    }


def in_user_file(text: str) -> Path:
    user_config_file().parent.mkdir(parents=True, exist_ok=True)
    user_config_file().write_text(text)
    return user_config_file()


def test_a_flag_beats_the_environment_beats_the_named_file_beats_the_user_file(
    tmp_path: Path,
) -> None:
    in_user_file('threads = 1\ndevice = "cpu"\nprecision = "bf16"\ncache_gib = 1')
    named = tmp_path / "lab.toml"
    named.write_text('threads = 2\ndevice = "cuda"\nprecision = "float32"')
    typed = {"THREADS": "3", "DEVICE": "mps", "CONFIG": str(named)}
    environment = {f"EMBEDLAB_{name}": text for name, text in typed.items()}
    found = origins({"threads": 4}, environment, tmp_path)
    assert found["threads"] == (4, "flag")
    assert found["device"] == ("mps", "EMBEDLAB_DEVICE")
    assert found["precision"] == ("float32", str(named))
    assert found["cache_gib"] == (1.0, str(user_config_file()))
    assert found["offline"] == (False, "default")


@pytest.mark.parametrize(
    ("file", "head"), [("embedlab.toml", ""), ("pyproject.toml", "[tool.embedlab]\n")]
)
def test_a_folder_decides_how_answers_are_shown_before_the_user_file(
    tmp_path: Path, file: str, head: str
) -> None:
    in_user_file('format = "json"\nquiet = true')
    (tmp_path / file).write_text(f'{head}format = "csv"\nnotes = true\ntheme = "nord"')
    found = origins({}, {}, tmp_path)
    assert found["format"] == ("csv", str(tmp_path / file))
    assert (found["notes"][0], found["theme"][0], found["quiet"][0]) == (True, "nord", True)


@pytest.mark.parametrize("key", [one.name for one in fields(Settings) if one.name not in SHOWN])
@pytest.mark.parametrize(
    ("file", "head"), [("embedlab.toml", ""), ("pyproject.toml", "tool.embedlab.")]
)
def test_a_folder_that_would_decide_anything_else_is_refused_by_the_key(
    tmp_path: Path, key: str, file: str, head: str
) -> None:
    (tmp_path / file).write_text(f"{head}{key} = 1")
    with pytest.raises(UsageError, match=rf"{file}: '{key}' cannot be set there") as caught:
        load_settings({}, environment={}, folder=tmp_path)
    assert str(user_config_file()) in str(caught.value.hint)
    assert key == "plugins" or f"EMBEDLAB_{key.upper()}" in str(caught.value.hint)
    assert (key == "plugins") == ("--plugin" in str(caught.value.hint))


def test_the_users_own_file_and_a_named_one_hold_also_in_their_own_folder(tmp_path: Path) -> None:
    own = in_user_file("threads = 2").parent
    assert load_settings({}, environment={}, folder=own)[0].threads == 2
    (tmp_path / "embedlab.toml").write_text("threads = 3")
    named = {"EMBEDLAB_CONFIG": str(tmp_path / "embedlab.toml")}
    assert load_settings({}, environment=named, folder=tmp_path)[0].threads == 3


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        ("EMBEDLAB_DATE", "x", "EMBEDLAB_DATE is not a setting.*did you mean EMBEDLAB_DATA?"),
        ("EMBEDLAB_XYZZY", "x", "EMBEDLAB_XYZZY is not a setting.*unset it"),
        ("EMBEDLAB_OFFLINE", "perhaps", "EMBEDLAB_OFFLINE.*must be true or false"),
        ("EMBEDLAB_THREADS", "two", "EMBEDLAB_THREADS.*must be an integer"),
        ("EMBEDLAB_THREADS", "0", "threads"),
    ],
)
def test_a_wrong_variable_is_refused_by_name(
    variable: str, text: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        load_settings({}, environment={variable: text}, folder=tmp_path)
    assert re.search(message, f"{caught.value.message} {caught.value.hint}")


def test_variables_of_others_and_empty_ones_are_left_alone(tmp_path: Path) -> None:
    environment = {
        "_EMBEDLAB_COMPLETE": "complete_bash",
        "EMBEDLAB_DATE": "",
        "EMBEDLAB_API_KEY": "s3cret",  # of an endpoint: no setting
        "MY_EMBEDLAB_DATE": "x",
        "EMBEDLAB_OFFLINE": "no",
        "EMBEDLAB_QUIET": "TRUE",
    }
    found = load_settings({}, environment=environment, folder=tmp_path)[0]
    assert found == Settings(quiet=True)


def test_a_removed_setting_is_reported_with_its_place_and_changes_nothing(tmp_path: Path) -> None:
    user_config_file().parent.mkdir(parents=True)
    user_config_file().write_text('textual_tuning = "on"\nthreads = 2')
    (tmp_path / "embedlab.toml").write_text('textual_tuning = "anything"')
    notes: list[str] = []
    environment = {"EMBEDLAB_TEXTUAL_TUNING": "1"}
    settings, origins = load_settings(
        {}, environment=environment, folder=tmp_path, note=notes.append
    )
    assert settings == Settings(threads=2)
    assert "textual_tuning" not in {origin.key for origin in origins}
    places = [
        f"{user_config_file()}: 'textual_tuning'",
        f"{tmp_path / 'embedlab.toml'}: 'textual_tuning'",
        "EMBEDLAB_TEXTUAL_TUNING",
    ]
    assert [note.partition(" has no effect any more")[0] for note in notes] == places


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("allow-partial = true", "unknown key 'allow-partial'"),
        ("cache_gib = inf", "'cache_gib' is inf"),
        ("threads = 1000000", "'threads' is 1000000"),
        (f"data = {'[' * 5000}", "nested too deep"),
        ("plugins = 3", "'plugins' is 3"),
    ],
)
def test_a_settings_file_is_refused_in_one_line_that_names_it(
    text: str, message: str, tmp_path: Path
) -> None:
    in_user_file(text)
    with pytest.raises(UsageError, match=r"embedlab\.toml") as caught:
        load_settings({}, environment={}, folder=tmp_path)
    assert message in caught.value.message


def test_a_section_of_pyproject_that_is_not_a_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool]\nembedlab = 3\n")
    with pytest.raises(UsageError, match=r"pyproject\.toml: 3: not a table"):
        load_settings({}, environment={}, folder=tmp_path)
    (tmp_path / "pyproject.toml").write_text("tool = 3\n")
    assert load_settings({}, environment={}, folder=tmp_path)[0] == Settings()


def test_a_process_of_a_team_knows_its_rank() -> None:
    team = {
        "WORLD_SIZE": "4",
        "LOCAL_RANK": "1",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": "29500",
    }
    assert process_rank({**team, "RANK": "3"}) == 3
    assert process_rank({**team, "RANK": "4"}) == 0
    assert process_rank({**team, "RANK": "x"}) == 0
    assert process_rank({"RANK": "1", "WORLD_SIZE": "2"}) == 0


def test_a_worker_can_read_the_settings_that_it_gets() -> None:
    settings = Settings(
        runs=Path("mine"),
        threads=3,
        precision="bf16",
        deterministic=True,
        attention="math",
        device_map="auto",
    )
    values = unbuild(settings)
    assert build(Settings, json.loads(json.dumps(values)), where="settings") == settings
    assert "data" not in values  # not set
