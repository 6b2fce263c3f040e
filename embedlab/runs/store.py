"""Run folders: every fact of a run is a plain file; its state follows from these files and its
process, known by id and start time.
"""

import json
import os
import re
import shutil
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from embedlab.core.disk import (
    KEY,
    UNSEALED,
    as_disk_errors,
    is_locked,
    is_same_file,
    read_sealed,
    take_lock,
    temporary_folder,
    write_atomic,
    write_json,
    write_sealed,
)
from embedlab.core.errors import SHOWN, EmbedlabError, Hint, MissingError, NamedOption, UsageError
from embedlab.core.foreign_files import open_own, refuse_links
from embedlab.core.nearest import unknown_name_error
from embedlab.core.printable import first_few
from embedlab.core.schema import read_json

if TYPE_CHECKING:
    from embedlab.core.recipe import Recipe
    from embedlab.runs.environment import Environment


# starts are counted in hundredths of a second; ids repeat after thousands of processes
_TOLERANCE_S = 1.0


def process_start(pid: int) -> float | None:
    """Return the seconds between the starts of this machine and of the process PID, independent of
    the clock; None if it has ended.
    """
    import psutil  # needed only for starting and stopping runs

    try:
        return float(psutil.Process(pid).create_time() - psutil.boot_time())
    except psutil.Error:
        return None


def is_process(pid: int, started_s: float | None) -> bool:
    """Return whether the process PID is the one that began STARTED_S after the machine; without
    that time nobody knows.
    """
    start = process_start(pid)
    if started_s is None or start is None:
        return False
    return abs(start - started_s) < _TOLERANCE_S


_RESTORE = "remove the run, or restore the file"

LONGEST_NAME = 230  # of the 255 that a file's name can have: locks and temporary files add to it

# A model, and the columns next to a model's scores.
RESERVED = {
    "dice",
    "gold",
    "gap",
    "pair",
    "dataset",
    "source",
    "sentence1",
    "sentence2",
    "pair_key",
}
_SEED = r"seed-(0|[1-9]\d*)"  # the name of a run's folder
GRIDS = "grids"  # subfolder of the runs folder for the state of grids


@dataclass(frozen=True, kw_only=True)
class Holder:
    """The process that holds a run."""

    pid: int
    host: str
    started_s: float | None = field(
        default=None, compare=False
    )  # after its machine's start; absent in older files
    is_starting: bool = False  # started for the run, but has not begun it


@dataclass(frozen=True)
class RunFolder:
    """One execution of a recipe with one seed: `<runs>/<name>/seed-<seed>`."""

    path: Path

    @classmethod
    def of(cls, runs: Path, name: str, seed: int) -> "RunFolder":
        """Return the folder of a run with this name and seed, whether it exists or not; what cannot
        be a name is a UsageError.
        """
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]*", name):
            raise UsageError(
                f"{name!r} cannot name a run",
                hint="use letters, digits, '.', '_', '+' and '-', for example snli-ce-2",
            )
        if len(name) > LONGEST_NAME:
            raise UsageError(
                f"a run's name of {len(name)} characters is too long",
                hint=f"take at most {LONGEST_NAME}, for example {name[:SHOWN]}",
            )
        # GRIDS is the same folder on disks that ignore case
        if name in RESERVED or name.casefold() == GRIDS:
            raise UsageError(
                f"{name!r} cannot name a run: it means something else",
                hint=f"choose another name, for example {name}-2",
            )
        return cls(runs / name / f"seed-{seed}")

    @property
    def name(self) -> str:
        """The run's name: its recipe's, or what `--name` said."""
        return self.path.parent.name

    @property
    def seed(self) -> int:
        """The run's seed."""
        return int(self.path.name.removeprefix("seed-"))

    @property
    def id(self) -> str:
        """The name that a user types for this run."""
        return f"{self.name}@{self.seed}"

    @property
    def recipe_file(self) -> Path:
        """The resolved recipe."""
        return self.path / "recipe.toml"

    @property
    def environment_file(self) -> Path:
        """What the run ran on and with."""
        return self.path / "environment.json"

    @property
    def events_file(self) -> Path:
        """Everything that happened, one JSON line an event."""
        return self.path / "events.jsonl"

    @property
    def log_file(self) -> Path:
        """The output of a detached process."""
        return self.path / "log.txt"

    @property
    def pid_file(self) -> Path:
        """The file that names the process that holds the run."""
        return self.path / "pid"

    @property
    def claim_file(self) -> Path:
        """The file that a starting process locks until it begins the run."""
        return self.path / "starting"

    @property
    def checkpoints(self) -> Path:
        """The folder of checkpoints."""
        return self.path / "checkpoints"

    @property
    def model(self) -> Path:
        """The trained encoder."""
        return self.path / "model"

    @property
    def evaluations(self) -> Path:
        """One JSON file a task."""
        return self.path / "evaluations"

    @property
    def training_text_file(self) -> Path:
        """The hashed sentences and pairs that the run was trained on."""
        return self.path / "learnt.parquet"

    @property
    def earlier_text_file(self) -> Path:
        """The same of the runs that it started from, which may be removed or renamed; absent where
        it started from none.
        """
        return self.path / "learnt-before.parquet"

    def recipe(self) -> "Recipe":
        """The resolved recipe that this run follows; a run without one is a MissingError."""
        from embedlab.core.recipe import read_resolved_recipe

        refuse_links(self.path)
        if self.path.is_dir() and not self.recipe_file.exists():
            if self.environment_file.exists():
                raise MissingError(f"run {self.id!r} has lost its recipe.toml", hint=_RESTORE)
            raise MissingError(
                f"run {self.id!r} has no recipe.toml: it was stopped or killed before it started",
                hint=f"start it again with `embedlab train`, or remove it: embedlab runs rm "
                f"{self.id}",
            )
        with suppress(OSError):  # reading it below reports the reason
            read_sealed(self.recipe_file, hint=_RESTORE)
        recipe = read_resolved_recipe(self.recipe_file)
        encoder = replace(
            recipe.encoder, model=find_moved_folder(recipe.encoder.model, self.path.parents[1])
        )
        return replace(recipe, encoder=encoder)

    def environment(self) -> "Environment":
        """The environment of the run; a folder of a newer schema is refused."""
        from embedlab.runs.environment import Environment

        refuse_links(self.path)
        return Environment.load(self.environment_file)

    def write_once(self, recipe: "Recipe", environment: "Environment") -> None:
        """Write the recipe and the environment; if they exist, check that the recipe is the
        same.
        """
        from embedlab.core.recipe import to_toml

        if self.recipe_file.exists():
            self.refuse_other(recipe)
        else:
            write_sealed(self.recipe_file, f"{to_toml(recipe)}# {KEY}: {UNSEALED}\n".encode())
        if self.environment_file.exists():
            self.environment()
        else:
            write_json(self.environment_file, asdict(environment), indent=2)

    def refuse_other(self, recipe: "Recipe") -> None:
        """Raise a UsageError if this folder contains a run of another recipe, naming the keys that
        differ.
        """
        from embedlab.core.recipe import UNTRAINED, recipe_differences

        stored_recipe = self.recipe()
        if stored_recipe.hash == recipe.hash:
            return
        changed = [
            f"{key} was {old!r}, now {new!r}"
            for key, old, new in recipe_differences(stored_recipe, recipe)
            if key not in UNTRAINED
        ]
        raise UsageError(
            f"run {self.id!r} was trained with another recipe: {first_few(changed, 3, separator='; ')}",
            hint=Hint(
                "give this one its own name, for example ",
                NamedOption("--name", f"{self.name}-2"),
                f", or remove the old one: embedlab runs rm {self.id}",
            ),
        )

    @contextmanager
    def lock(self, *, makes_folder: bool = True) -> Iterator[None]:
        """Lock the run for this process: no other process can train it until the block ends or this
        process dies.

        Without MAKES_FOLDER an absent run is refused.
        """
        with self._lock_file(self.path / "lock", makes_folder=makes_folder):
            if self._starter() is not None:
                raise self._in_other_hands()
            self.hand_over(os.getpid())
            self.claim_file.unlink(missing_ok=True)
            yield

    @contextmanager
    def claim(self) -> Iterator[int]:
        """Lock the run for a process that is started in the block and inherits the descriptor:
        until it begins the run or dies.

        So a run is held while its process still loads, and a process that dies before it begins
        leaves no lock.
        """
        with ExitStack() as stack:
            with self._lock_file(
                self.path / "lock"
            ):  # for this moment: who begins the run finds it free, or a claim that names its process
                descriptor = stack.enter_context(self._lock_file(self.claim_file))
                self.hand_over(os.getpid())
            yield descriptor

    def hand_over(self, pid: int) -> None:
        """Record the process that holds the run."""
        write_atomic(
            self.pid_file,
            json.dumps({"pid": pid, "host": socket.gethostname(), "started_s": process_start(pid)}),
        )

    @contextmanager
    def _lock_file(self, path: Path, *, makes_folder: bool = True) -> Iterator[int]:
        with as_disk_errors(self.path):
            if makes_folder:
                self.path.mkdir(parents=True, exist_ok=True)
            refuse_links(self.path)
            try:
                file = open_own(path, "a+b")
            except FileNotFoundError:  # the folder was renamed or removed just now
                raise self._in_other_hands() from None
        with file:
            # A query for the holder locks the file for an instant, and a run may be renamed or
            # removed after its file was opened.
            if not take_lock(file.fileno(), patience_s=(0.02, 0.1, 0.3)) or not is_same_file(
                file.fileno(), path
            ):
                raise self._in_other_hands()
            yield file.fileno()

    def _in_other_hands(self) -> EmbedlabError:
        return EmbedlabError(
            f"run {self.id!r} is in use by another process",
            hint=f"follow it with `embedlab runs log {self.id} --follow`, stop it with "
            f"`embedlab runs cancel {self.id}`",
        )

    def holder(self) -> Holder | None:
        """The process that holds the run now, or None.

        The lock decides, not the id in the pid file: the system reuses ids of dead processes.
        """
        return self._starter() or (
            self._stated_holder() if is_locked(self.path / "lock") else None
        )  # in this order: a process takes the lock before its claim ends

    def _starter(self) -> Holder | None:
        """Return the process that was started for the run and has not begun it; None if that is
        this process or its child.
        """
        if not is_locked(self.claim_file):
            return None
        holder = self._stated_holder()
        if holder is None or (holder.pid, holder.host) == (os.getsid(0), socket.gethostname()):
            return None
        return replace(holder, is_starting=True)

    def _stated_holder(self) -> Holder | None:
        """Return the holder named in the pid file; None if the folder was renamed or removed
        meanwhile.
        """
        for patience_s in (
            0.01,
            0.1,
            0.3,
        ):  # a process writes its id just after it has taken the lock
            if self.pid_file.exists():
                break
            time.sleep(patience_s)
        hint = "its process writes it when it begins the run"
        try:
            content = self.pid_file.read_bytes()
        except FileNotFoundError:
            return None
        return read_json(Holder, content, where=self.pid_file, schema=1, hint=hint)


def find_moved_folder(model: str, runs: Path) -> str:
    """Return the folder MODEL of a run, or that of the same run and seed in RUNS, if the runs
    folder was moved.
    """
    path = Path(model)
    if not is_model_of_run(path):
        return model
    moved = runs.absolute().joinpath(*path.parts[-3:])
    return str(moved) if moved.is_dir() and not path.is_dir() else model


def is_model_of_run(path: Path) -> bool:
    """Return whether PATH is named as the model of a run is, whether it is there or not."""
    is_seed = re.fullmatch(_SEED, path.parent.name) is not None
    return path.is_absolute() and path.name == "model" and is_seed


def list_runs(folder: Path) -> tuple[list[RunFolder], list[tuple[Path, str]]]:
    """Return the runs in a runs folder by name and seed, and the folders in it that cannot be
    listed, each with the reason.
    """
    runs: list[RunFolder] = []
    unreadable: list[tuple[Path, str]] = []
    try:
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except FileNotFoundError:
        paths = []
    except OSError as error:
        raise MissingError(
            f"cannot read the runs folder {str(folder)!r}: {error.strerror}",
            hint=Hint("choose another with ", NamedOption("--runs", "DIR")),
        ) from error
    for path in filter(Path.is_dir, paths):
        try:
            seeds = [child for child in path.iterdir() if re.fullmatch(_SEED, child.name)]
        except OSError as error:
            unreadable.append((path, error.strerror or str(error)))
        else:
            runs += map(RunFolder, seeds)
    return sorted(runs, key=lambda run: (run.name, run.seed)), unreadable


def find_runs(folder: Path) -> list[RunFolder]:
    """Return the runs in a runs folder that can be listed, by name and seed."""
    return list_runs(folder)[0]


def select_runs(folder: Path, name: str) -> list[RunFolder]:
    """Return the runs that NAME ("sbert", "sbert@3") selects; at least one, or the error that
    suggests the nearest.
    """
    runs = find_runs(folder)
    matching = [run for run in runs if name in {run.name, run.id}]
    if not matching:
        names = [*(run.name for run in runs), *(run.id for run in runs)]
        raise unknown_name_error("run", name, names, listing="`embedlab runs ls` lists all")
    return matching


def unbegun_seeds(runs: Sequence[RunFolder]) -> list[RunFolder]:
    """Return the seeds that the commands which began RUNS, seeds of one name, had not come to."""
    seeds: set[int] = set()
    for run in runs:
        with suppress(MissingError):  # of one that is damaged nothing is known
            seeds.update(run.environment().seeds)
    folder = runs[0].path.parent
    return [
        RunFolder(folder / f"seed-{seed}") for seed in sorted(seeds - {run.seed for run in runs})
    ]


def rename_runs(folder: Path, old: str, new: str) -> None:
    """Give all seeds of the run OLD the name NEW; a single seed is a UsageError."""
    runs = select_runs(folder, old)
    if runs[0].name != old:
        raise UsageError(
            f"a name belongs to all seeds of a run, not to {old!r} alone",
            hint=f"embedlab runs rename {runs[0].name} {new}",
        )
    target = RunFolder.of(folder, new, 0).path.parent
    if target.exists():
        raise UsageError(
            f"there is a run named {new!r} already",
            hint="choose another name; `embedlab runs ls` lists all runs",
        )
    with _hold_all(runs):
        # seeds that were started meanwhile
        _refuse_held([run for run in select_runs(folder, old) if run not in runs])
        with as_disk_errors(target):
            (folder / old).rename(target)


def remove_runs(runs: Sequence[RunFolder]) -> None:
    """Delete run folders with their contents; a held run is refused."""
    with _hold_all(runs):
        for run in runs:
            with as_disk_errors(run.path):
                with (
                    temporary_folder(run.path) as temporary
                ):  # in one step, so that no process restarts the run during the deletion
                    run.path.replace(temporary)
                    shutil.rmtree(temporary)
                with suppress(OSError):  # other seeds still exist
                    run.path.parent.rmdir()


@contextmanager
def _hold_all(runs: Sequence[RunFolder]) -> Iterator[None]:
    """Lock all RUNS, so that no process begins one of them until the block ends."""
    _refuse_held(runs)
    with ExitStack() as stack:
        for run in runs:
            stack.enter_context(run.lock(makes_folder=False))
        yield


def _refuse_held(runs: Sequence[RunFolder]) -> None:
    for run in runs:
        if run.holder() is not None:
            raise UsageError(
                f"run {run.id!r} is running", hint=f"stop it first: embedlab runs cancel {run.id}"
            )
