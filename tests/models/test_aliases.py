"""Names that the user gives models."""

from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.models.aliases import aliases, aliases_file, take_alias
from embedlab.models.catalog import resolve


def test_a_typed_alias_is_stored_and_means_the_same_folder_from_anywhere(
    tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tiny_encoder.parent)
    assert take_alias(f"mini={tiny_encoder.name}") == "mini"
    monkeypatch.chdir("/")
    (spec,) = resolve("mini", Path("runs")).members
    assert (spec.name, spec.location, spec.alias_of) == (
        "mini",
        str(tiny_encoder),
        str(tiny_encoder),
    )
    (cls,) = resolve("mini?pooling=cls", Path("runs")).members
    assert (cls.name, cls.pooling, cls.location) == ("mini?pooling=cls", "cls", str(tiny_encoder))


def test_an_alias_is_stored_when_it_is_used_and_others_stay_as_they_are() -> None:
    take_alias("one=dice")
    resolve("one", Path("runs"))
    stored = aliases_file().read_text()
    assert (take_alias("one=wordllama"), take_alias("two=dice"), aliases()["one"]) == (
        "one",
        "two",
        "wordllama",
    )
    assert aliases_file().read_text() == stored
    resolve("two", Path("runs"))
    assert aliases_file().read_text() == stored + 'two = "dice"\n'.replace("two", '"two"')
    take_alias("three=no-such-model")
    with pytest.raises(UsageError, match="no model named"):
        resolve("three", Path("runs"))
    assert "three" not in aliases_file().read_text()


def test_a_name_that_gets_another_model_is_noted() -> None:
    for model in ("dice", "dice", "wordllama"):
        take_alias(f"changed={model}")
        (spec,) = resolve("changed", Path("runs")).members
        assert spec.note.endswith("changed meant dice before") is (model == "wordllama")


@pytest.mark.parametrize(
    "text",
    [
        "dice",
        "minilm?pooling=cls",
        "average:a,b",
        "owner/name",
        "http://host/v1#model=x",
        "scores:a=b.csv",
    ],
)
def test_what_names_no_alias_is_a_model_as_it_was(text: str) -> None:
    assert take_alias(text) == text
    assert not aliases_file().exists()


def test_a_folder_whose_name_has_an_equals_sign_is_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lr=3").mkdir()
    assert take_alias("lr=3") == "lr=3"


@pytest.mark.parametrize("name", ["dice", "sbert", "gold", "vectors", "gap", "1st", "negation"])
def test_a_name_with_a_meaning_of_its_own_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"already names something else|cannot be an alias"):
        take_alias(f"{name}=dice")


def test_a_run_comes_before_an_alias_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "runs" / "mine" / "seed-1" / "model").mkdir(parents=True)
    take_alias("mine=dice")
    (spec,) = resolve("mine", tmp_path / "runs").members
    assert (spec.name, spec.kind) == ("mine@1", "run")


def test_an_alias_of_a_run_has_its_seeds(tmp_path: Path) -> None:
    for seed in (1, 2):
        (tmp_path / "runs" / "long-name" / f"seed-{seed}" / "model").mkdir(parents=True)
    take_alias("short=long-name")
    model = resolve("short", tmp_path / "runs")
    assert [(one.name, one.seed) for one in model.members] == [("short@1", 1), ("short@2", 2)]
    assert [one.name for one in resolve("short@2", tmp_path / "runs").members] == ["short@2"]


def test_an_alias_made_of_another_or_of_itself_names_the_model(tiny_encoder: Path) -> None:
    take_alias(f"mini={tiny_encoder}")
    take_alias("mini=mini?pooling=cls")
    take_alias("short=mini?dim=8")
    assert aliases()["mini"] == f"{tiny_encoder}?pooling=cls"
    (spec,) = resolve("short", Path("runs")).members
    assert (spec.location, spec.pooling, spec.dim) == (str(tiny_encoder), "cls", 8)
    aliases_file().write_text('loop = "loop?dim=2"\n')
    with pytest.raises(UsageError, match="'loop' names another alias"):
        resolve("loop", Path("runs"))


def test_a_damaged_file_of_aliases_is_named(tmp_path: Path) -> None:
    aliases_file().parent.mkdir(parents=True, exist_ok=True)
    aliases_file().write_text("mini = 3\n")
    with pytest.raises(UsageError, match=r"aliases\.toml: 'mini' is not a text"):
        resolve("mini", tmp_path)


@pytest.mark.parametrize(
    ("name", "kind"), [("minilm", "folder"), ("simcse", "hub"), ("dice", "dice")]
)
def test_a_line_that_was_written_by_hand_hides_nothing_that_is_shipped(
    name: str, kind: str, tiny_encoder: Path
) -> None:
    aliases_file().parent.mkdir(parents=True, exist_ok=True)
    aliases_file().write_text(f'{name} = "{tiny_encoder}"\n')
    (spec,) = resolve(name, Path("runs")).members
    assert (spec.kind, spec.alias_of) == (kind, None)
