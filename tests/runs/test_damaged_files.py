"""Whatever is damaged in a stored file is noticed, or changes nothing of what is read."""

import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchmarks.pair_frames import store_similarities
from embedlab.core.disk import KEY, check_folder
from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.data.overlaps import KnownText
from embedlab.experiments.plan import GridPlan
from embedlab.objectives.objective import read_heads
from embedlab.runs import events
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.outcomes import StoredOutcomes
from embedlab.runs.store import RunFolder
from embedlab.training.checkpointing import Snapshot
from tests.stored_json import store_values, stored_values
from tests.stored_world import unpack

PREFIX = b"embedlab-xxh3:"
DAMAGES = 20  # of each way
RUN = "runs/pairs/seed-1"
CHECKPOINT = "runs/cut/seed-1/checkpoints/*"


@dataclass(frozen=True, kw_only=True)
class Stored:
    """A stored file, by the pattern of its path, and how it is read."""

    file: str
    read: Callable[[Path], Any]
    has_mark: bool = True  # otherwise its checksum is in a file beside it, or in each of its lines


def heads(path: Path) -> Any:
    return {
        name: tensor.numpy().tobytes()
        for name, tensor in read_heads(RunFolder(path.parent)).items()
    }


def training_text(path: Path) -> Any:
    found = KnownText.read(path)
    return found.sentences.tolist(), found.pairs.tolist()


def whole_events(path: Path) -> Any:
    """The events, or an error where one of them is damaged; what a killed process had not written
    is not there yet.
    """
    found = events.events_after(path)[0]
    if any(isinstance(event, events.Damaged) for event in found):
        raise EmbedlabError("damaged")
    return found


def checkpoint(path: Path) -> Any:
    found = Snapshot.read(path.parent)
    tensors = [
        {name: value.numpy().tobytes() for name, value in one.items()}
        for one in (found.encoder, found.heads, found.optimizer)
    ]
    return found.step, found.best, found.unreported, tensors


def model(path: Path) -> bytes:
    check_folder(path.parent, hint="")
    return path.read_bytes()


STORED = {
    "recipe": Stored(file=f"{RUN}/recipe.toml", read=lambda path: RunFolder(path.parent).recipe()),
    "environment": Stored(
        file=f"{RUN}/environment.json", read=lambda path: RunFolder(path.parent).environment()
    ),
    "heads": Stored(file=f"{RUN}/heads.safetensors", read=heads),
    "training text": Stored(file=f"{RUN}/learnt.parquet", read=training_text),
    "outcomes of a run": Stored(
        file=f"{RUN}/evaluations/sts/d.parquet",
        read=lambda path: StoredOutcomes.load(path).items,
    ),
    "evaluation": Stored(file="runs/glue/seed-1/evaluations/glue.json", read=Evaluation.load),
    "state of a checkpoint": Stored(file=f"{CHECKPOINT}/state.json", read=checkpoint),
    "listing of a checkpoint": Stored(file=f"{CHECKPOINT}/checksums.json", read=checkpoint),
    "tensors of a checkpoint": Stored(
        file=f"{CHECKPOINT}/optimizer.safetensors", read=checkpoint, has_mark=False
    ),
    "weights": Stored(file=f"{RUN}/model/model.safetensors", read=model, has_mark=False),
    "plan": Stored(file="runs/grids/rates/plan.json", read=lambda path: vars(GridPlan.load(path))),
    "events": Stored(file=f"{RUN}/events.jsonl", read=whole_events, has_mark=False),
}


def flipped(content: bytes, draw: random.Random) -> bytes:
    """One bit is another."""
    changed, bit = bytearray(content), draw.randrange(8 * len(content))
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def overwritten(content: bytes, draw: random.Random, fill: Callable[[int], bytes]) -> bytes:
    """Up to 64 bytes are others."""
    size = draw.randint(2, min(64, len(content)))
    start = draw.randrange(len(content) - size + 1)
    return content[:start] + fill(size) + content[start + size :]


def damages(content: bytes, draw: random.Random, *, has_mark: bool) -> Iterator[tuple[str, bytes]]:
    """Flips, blocks of other bytes, ends that are missing, and marks that are damaged in each
    way.
    """
    letters = b"abcdefgh 0123456789"
    fills = (draw.randbytes, bytes, lambda size: bytes(draw.choices(letters, k=size)))
    for _ in range(DAMAGES):
        yield "bit", flipped(content, draw)
        for fill in fills:
            yield "bytes", overwritten(content, draw, fill)
        yield "shorter", content[: draw.randrange(len(content))]
    if not has_mark:
        return
    mark = content.rindex(PREFIX)
    key = content.rindex(KEY.encode(), 0, mark)
    end = mark + len(PREFIX)
    for place in [*range(mark, end), *range(key, key + len(KEY))]:
        other = bytes([content[place] ^ 1 << draw.randrange(8)])
        yield f"mark, byte {place - key}", content[:place] + other + content[place + 1 :]
    yield "another key", content.replace(KEY.encode(), b"checksun")
    yield "another prefix", content.replace(PREFIX, b"embedlab-xxh4:")
    yield "no mark", content[:key] + b"z" * (end + 32 - key) + content[end + 32 :]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs, a grid and caches, all with checksums."""
    place = tmp_path_factory.mktemp("stored")
    unpack(place)
    facts = {"dataset": ["d"], "pair": [0], "sentence1": ["a"], "sentence2": ["b"], "gold": [1.0]}
    store_similarities(pl.DataFrame(facts), place / RUN / "evaluations", "m", pl.Series([0.5]))
    return place


def outcome(read: Callable[[Path], Any], path: Path) -> Any:
    """What is read, or None where the damage is noticed."""
    try:
        return read(path)
    except EmbedlabError:
        return None


@pytest.mark.parametrize("name", STORED)
def test_a_damage_is_noticed_or_harmless(folder: Path, name: str) -> None:
    stored = STORED[name]
    (path,), read = folder.glob(stored.file), partial(outcome, stored.read)
    content, expected = path.read_bytes(), read(path)
    assert expected is not None
    try:
        for what, changed in damages(content, random.Random(name), has_mark=stored.has_mark):
            path.write_bytes(changed)
            found = read(path)
            # Fewer lines, and a last one without its end, are what a killed process leaves.
            is_cut = (
                name == "events"
                and (not changed.endswith(b"\n") or content.startswith(changed))
                and found == expected[: len(found or ())]
            )
            assert found is None or found == expected or is_cut, what
    finally:
        path.write_bytes(content)


@pytest.mark.parametrize(
    ("name", "key"), [("environment", "packages"), ("evaluation", "overlaps"), ("plan", "axes")]
)
def test_a_value_of_another_shape_is_refused_by_file_and_key(
    folder: Path, name: str, key: str, tmp_path: Path
) -> None:
    (path,) = folder.glob(STORED[name].file)
    copy = shutil.copy(path, tmp_path / path.name)
    store_values(copy, {**stored_values(path), key: {"x": 2}})
    with pytest.raises(MissingError) as caught:
        STORED[name].read(copy)
    assert caught.value.message.startswith(f"{copy}: damaged: '{key}.x' is 2")
