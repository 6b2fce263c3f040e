"""Probing tasks in SentEval's file format: split TAB label TAB tokens, all three splits in one
file.

Columns: sentence, label. SentEval's ten tasks have their published counts; any other folder of such
files is a suite with its own name: `probing_gum` in the data folder is `gum-probing`, never
"SentEval"; the folder of `probing:DIR` may be anywhere. A suite whose tasks are declared
(embedlab/data/corpora/SUITE) has their counts, and misses those that are lost.
"""

from dataclasses import replace
from pathlib import Path

from embedlab.core.errors import MissingError
from embedlab.core.nearest import unknown_name_error
from embedlab.core.paths import typed_path
from embedlab.data.corpus_file import shipped_corpus, shipped_tasks
from embedlab.data.dataset import Dataset, Split

SENTEVAL = "probing"
SENTEVAL_TASKS = (
    *("sentence-length", "word-content", "tree-depth", "top-constituents", "bigram-shift"),
    *("past-present", "subj-number", "obj-number", "odd-man-out", "coordination-inversion"),
)
FOLDER_PREFIX = "probing:"  # before the path of a user's own folder


def suite_names(folder: Path | None) -> list[str]:
    """Return the names of the probing suites: SentEval's, and `<name>-probing` for each folder
    `probing_<name>` in the data FOLDER.
    """
    paths = sorted(folder.glob("probing_*")) if folder is not None else []
    return [SENTEVAL, *(_own_name(path) for path in paths if path.is_dir())]


def set_of(name: str) -> str | None:
    """Return the suite, other than SentEval's, that a NAME is or belongs to: `gum-probing` for
    `gum-probing/tree-depth`; otherwise None.
    """
    prefix = name.partition("/")[0]
    return (
        name if name.startswith(FOLDER_PREFIX) else prefix if prefix.endswith("-probing") else None
    )


def suite_title(name: str) -> str:
    """Return the title of the suite called NAME; for `probing:DIR` it is the folder's name."""
    path = _own_folder(name)
    return name if path is None else _own_name(path)


def suite_folder(name: str, folder: Path | None) -> Path | None:
    """Return the folder of a suite's files: a user's own, or the data FOLDER."""
    path = _own_folder(name)
    return folder if path is None else path.parent


def _own_folder(name: str) -> Path | None:
    """Return the user's own folder that a NAME means; None where it means none."""
    if not name.startswith(FOLDER_PREFIX):
        return None
    return typed_path(name.removeprefix(FOLDER_PREFIX)).resolve()


def suite(name: str, folder: Path | None) -> tuple[Dataset, ...]:
    """Return the tasks of the probing suite called NAME; without SentEval's names, one for each
    text file in the format.

    A folder without such a file is a MissingError.
    """
    if name == SENTEVAL:
        return tuple(map(shipped_corpus, SENTEVAL_TASKS))
    path = _place(name, folder)
    suite_name = _own_name(path)
    declared = shipped_tasks(suite_name)
    file_names = {file.name for file in path.glob("*.txt") if _has_format(file)}
    files = sorted(file_names | {f"{task.replace('-', '_')}.txt" for task in declared})
    if not files:
        raise MissingError(
            f"no file in {str(path)!r} has the format split TAB label TAB tokens",
            hint="a task is a file <task>.txt",
        )
    return tuple(declared.get(_task(file)) or _undeclared(suite_name, path, file) for file in files)


def _undeclared(suite_name: str, path: Path, file: str) -> Dataset:
    """Return the task of a FILE in a folder of the user's own, which is read as SentEval's files
    are.
    """
    task = _task(file)
    template = shipped_corpus(task if task in SENTEVAL_TASKS else SENTEVAL_TASKS[0])
    splits = {
        name: Split(
            layouts=(replace(split.layouts[0], files=(f"{path.name}/{file}",)),), expected=None
        )
        for name, split in template.splits.items()
    }
    summary = template.summary if task in SENTEVAL_TASKS else f"probing: {task}"
    return replace(
        template, name=f"{suite_name}/{task}", summary=summary, home=path.name, splits=splits
    )


def _place(name: str, folder: Path | None) -> Path:
    if (path := _own_folder(name)) is not None:
        if not path.is_dir():
            raise MissingError(
                f"no folder {str(path)!r}",
                hint="probing:DIR is a folder of files in SentEval's probing format",
            )
        return path
    if folder is None or name not in suite_names(folder):
        raise unknown_name_error(
            "probing suite",
            name,
            suite_names(folder),
            listing="the folder probing_NAME of the data folder is called NAME-probing",
        )
    return folder / f"probing_{name.removesuffix('-probing')}"


def _own_name(path: Path) -> str:
    return f"{path.name.removeprefix('probing_')}-probing"


def _has_format(file: Path) -> bool:
    """Return whether the first line has three fields, unlike a licence file next to the tasks."""
    with file.open("rb") as lines:
        return lines.readline().count(b"\t") >= 2


def _task(file: str) -> str:
    return file.removesuffix(".txt").replace("_", "-")
