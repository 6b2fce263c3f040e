"""Models of the Hugging Face hub as local folders: downloaded once, found again without a
network.
"""

from pathlib import Path

from embedlab.core.errors import MissingError
from embedlab.core.network import is_reachable

# No pickled weights and no code: only tokenizer, config, safetensors, and the training text of our
# own exports.
WANTED = (
    "*.json",
    "*.txt",
    "*.model",
    "*.safetensors",
    "training/*/seed-*/recipe.toml",
    "training/*/seed-*/learnt.parquet",
)
# the hub's own account that offers safetensors of older repositories as a pull request
CONVERTER = "SFconvertbot"


def hub_folder(repository: str, revision: str | None = None, *, offline: bool = False) -> Path:
    """Return the local folder of a hub REPOSITORY with safetensors weights, downloaded if needed
    and allowed.

    Older repositories have only pickled weights: the hub's converted ones come from its pull
    request.
    """
    if offline or not is_reachable():
        downloaded = downloaded_folder(repository, revision)
        if downloaded is None:
            why_not = "and nothing is downloaded" if offline else "and the hub is out of reach"
            raise MissingError(
                f"{repository!r} is not on this machine, {why_not}",
                hint="give a folder, or run once with a network",
            )
        return downloaded
    folder = _snapshot(repository, revision or "main")
    if _has_weights(folder) or revision is not None:
        return folder
    from huggingface_hub import get_repo_discussions

    candidates = get_repo_discussions(repository, author=CONVERTER, discussion_type="pull_request")
    converted = next((candidate.git_reference for candidate in candidates), None)
    return folder if converted is None else _snapshot(repository, converted)


def cached_folder(repository: str, revision: str | None = None) -> Path | None:
    """Return the folder of a revision of a hub REPOSITORY that was downloaded before, without the
    hub's own client; None without one.
    """
    from huggingface_hub import constants  # light

    path = Path(constants.HF_HUB_CACHE) / f"models--{repository.replace('/', '--')}"
    reference = path / "refs" / (revision or "main")
    commit = reference.read_text(encoding="utf-8").strip() if reference.is_file() else revision
    folder = path / "snapshots" / (commit or "main")
    return folder if folder.is_dir() else None


def downloaded_folder(repository: str, revision: str | None) -> Path | None:
    """Return the folder that `hub_folder` gives offline; None without one. The hub's own client,
    which is slow to import, is not used.
    """
    folder = cached_folder(repository, revision)
    if folder is None or revision is not None or _has_weights(folder):
        return folder
    references = folder.parents[1] / "refs"
    conversions = sorted(references.glob("refs/pr/*"))
    if not conversions:
        return folder
    return cached_folder(repository, conversions[-1].relative_to(references).as_posix())


def _has_weights(folder: Path) -> bool:
    from embedlab.models.folder_files import ADAPTER, weight_files

    return bool(weight_files(folder)) or (folder / ADAPTER).is_file()


def _snapshot(repository: str, revision: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        HfHubHTTPError,
        HFValidationError,
        RepositoryNotFoundError,
    )

    try:
        return Path(snapshot_download(repository, revision=revision, allow_patterns=list(WANTED)))
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise MissingError(
            f"no folder and no hub model {repository!r}",
            hint="check the name; private models need `hf auth login`",
        ) from error
    except (HfHubHTTPError, OSError) as error:
        reason = str(error).strip().split("\n")[0]
        raise MissingError(
            f"cannot get {repository!r} from the hub: {reason}", hint="give a folder, or try again"
        ) from error
