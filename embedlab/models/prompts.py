"""The prompts that the folder of a model states, as sentence-transformers writes them."""

from collections.abc import Mapping
from pathlib import Path

from embedlab.core.errors import MissingError
from embedlab.core.nearest import unknown
from embedlab.models.folder_files import RESTORE_HINT, PromptsFile, read_model_file

FILE = "config_sentence_transformers.json"
# The prompts by which sentence-transformers encodes the texts of a role, the first that is stated.
_OF_ROLES: Mapping[str, tuple[str, ...]] = {"query": ("query",), "document": ("document", "passage", "corpus")}


def read_prompts(folder: Path) -> PromptsFile:
    """Return what FOLDER states of prompts, similarity and length; nothing where it has no such file.

    A model that gives no sentence vectors, and a default prompt that is not among the prompts, are a MissingError.
    """
    file = read_model_file(folder / FILE, PromptsFile) or PromptsFile()
    if file.model_type != "SentenceTransformer":
        raise MissingError(
            f"{str(folder)!r} is a {file.model_type} of sentence-transformers, which gives no sentence vectors",
            hint="score pairs with it and bring the result: scores:FILE",
        )
    if file.default_prompt_name and file.default_prompt_name not in {*(file.prompts or {}), *_OF_ROLES}:
        raise MissingError(f"{folder / FILE}: no prompt {file.default_prompt_name!r}, which 'default_prompt_name' names", hint=RESTORE_HINT)
    return file


def prompt_of_role(file: PromptsFile, role: str | None) -> str:
    """Return the prompt of texts in a ROLE: that of its name, for queries and documents no other; the default for any other role."""
    stated = file.prompts or {}
    names = _OF_ROLES.get(role or "")
    return file.default_prompt if names is None else next((stated[name] or "" for name in names if name in stated), "")


def stated_prompts(folder: Path) -> Mapping[str, str]:
    """Return the prompts that FOLDER states, by name."""
    return {name: text or "" for name, text in (read_prompts(folder).prompts or {}).items()}


def typed_prompt(wish: str, folder: Path) -> str:
    """Return the text of the prompt that FOLDER calls so, or the text that was typed."""
    prompts = stated_prompts(folder)
    if wish in prompts:
        return prompts[wish]
    if wish and not any(character.isspace() or character in ":|" for character in wish):  # one word is a name
        raise unknown("prompt", wish, list(prompts), listing=f"prompts that {str(folder)!r} states; a text ends with a colon or a space")
    return wish
