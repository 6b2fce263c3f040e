"""The prompts that the folder of a model states, as sentence-transformers writes them."""

from collections.abc import Mapping
from pathlib import Path

from embedlab.core.nearest import unknown
from embedlab.models.folder_files import PromptsFile, read_model_file


def read_prompts(folder: Path) -> PromptsFile:
    """Return what FOLDER states of prompts, similarity and length; nothing where it has no such file."""
    return read_model_file(folder / "config_sentence_transformers.json", PromptsFile) or PromptsFile()


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
