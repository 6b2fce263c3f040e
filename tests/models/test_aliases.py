"""Names that the user gives models."""

from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.models.aliases import aliases, aliases_file, take_alias
from embedlab.models.catalog import ModelSpec, resolve


def resolved(name: str, runs: Path = Path("runs")) -> ModelSpec:
    (spec,) = resolve(name, runs).members
    return spec


def write_by_hand(text: str) -> None:
    aliases_file().parent.mkdir(parents=True, exist_ok=True)
    aliases_file().write_text(text)


def test_a_typed_alias_is_stored_and_means_the_same_folder_from_anywhere(
    tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tiny_encoder.parent)
    assert take_alias(f"mini={tiny_encoder.name}") == "mini"
    monkeypatch.chdir("/")
    place, spec, cls = str(tiny_encoder), resolved("mini"), resolved("mini?pooling=cls")
    assert (spec.name, spec.location, spec.alias_of) == ("mini", place, place)
    assert (cls.name, cls.pooling, cls.location) == ("mini?pooling=cls", "cls", place)


def test_an_alias_is_stored_when_it_is_used_and_others_stay_as_they_are() -> None:
    take_alias("one=dice")
    resolved("one")
    stored = aliases_file().read_text()
    for typed in ("one=wordllama", "two=dice", "three=no-such-model"):
        take_alias(typed)
    assert aliases()["one"] == "wordllama"
    assert aliases_file().read_text() == stored
    resolved("two")
    with pytest.raises(UsageError, match="no model named"):
        resolved("three")
    assert aliases_file().read_text() == f'{stored}two = "dice"\n'


def test_a_name_that_gets_another_model_is_noted() -> None:
    for model in ("dice", "dice", "wordllama"):
        take_alias(f"changed={model}")
        note = str(resolved("changed").note)
        assert note.endswith("changed meant dice before") is (model == "wordllama")


@pytest.mark.parametrize(
    "text", ["minilm?pooling=cls", "average:a,b", "owner/name", "http://host/v1#model=x",
             "scores:a=b.csv", "lr=3"],
)  # fmt: skip
def test_what_names_no_alias_is_a_model_as_it_was(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lr=3").mkdir()
    assert take_alias(text) == text
    assert not aliases_file().exists()


def test_runs_come_before_an_alias_of_their_name_and_an_alias_of_runs_has_their_seeds(
    tmp_path: Path,
) -> None:
    for run in ("long-name/seed-1", "long-name/seed-2", "mine/seed-1"):
        (tmp_path / run / "model").mkdir(parents=True)
    take_alias("mine=dice")
    assert resolved("mine", tmp_path).kind == "run"
    take_alias("short=long-name")
    members = resolve("short", tmp_path).members
    assert [(one.name, one.seed) for one in members] == [("short@1", 1), ("short@2", 2)]
    assert resolved("short@2", tmp_path).name == "short@2"


@pytest.mark.parametrize("name", ["dice", "sbert", "gold", "vectors", "gap", "1st", "negation"])
def test_a_name_with_a_meaning_of_its_own_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"already names something else|cannot be an alias"):
        take_alias(f"{name}=dice")


def test_an_alias_made_of_another_or_of_itself_names_the_model(tiny_encoder: Path) -> None:
    take_alias(f"mini={tiny_encoder}")
    take_alias("mini=mini?pooling=cls")
    take_alias("short=mini?dim=8")
    assert aliases()["mini"] == f"{tiny_encoder}?pooling=cls"
    spec = resolved("short")
    assert (spec.location, spec.pooling, spec.dim) == (str(tiny_encoder), "cls", 8)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('mini = "mini?dim=2"\n', "'mini' names another alias"),
        ("mini = 3\n", r"aliases\.toml: 'mini' is not a text"),
    ],
)
def test_a_damaged_file_of_aliases_is_named(text: str, says: str) -> None:
    write_by_hand(text)
    with pytest.raises(UsageError, match=says):
        resolved("mini")


def test_a_line_that_was_written_by_hand_hides_nothing_that_is_shipped(tiny_encoder: Path) -> None:
    kinds = {"minilm": "folder", "simcse": "hub", "dice": "dice"}
    write_by_hand("".join(f'{name} = "{tiny_encoder}"\n' for name in kinds))
    for name, kind in kinds.items():
        assert (resolved(name).kind, resolved(name).alias_of) == (kind, None)
