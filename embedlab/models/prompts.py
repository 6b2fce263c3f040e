"""The prompts that the folder of a model states, as sentence-transformers writes them."""

import re
from collections.abc import Mapping
from pathlib import Path

from embedlab.core.errors import MissingError
from embedlab.core.nearest import unknown
from embedlab.models.folder_files import RESTORE_HINT, PromptsFile, read_model_file

FILE = "config_sentence_transformers.json"
ENCODER_TYPE, CROSS_ENCODER = (
    "SentenceTransformer",
    "CrossEncoder",
)  # classes of sentence-transformers
# What models of other classes give, and how their scores of pairs are brought; any other class
# gives what its author says.
_SPARSE = "a sparse encoder: a vector of word weights for each text"
_MULTI = "a multi-vector encoder: a vector for each token"
_OTHER_TYPES: Mapping[str, tuple[str, str]] = {
    "SparseEncoder": (_SPARSE, "SparseEncoder.similarity_pairwise"),
    "MultiVectorEncoder": (_MULTI, "MultiVectorEncoder.similarity_pairwise"),
    "ColBERT": (_MULTI, "PyLate"),
}
_ROLES = {"query", "document"}  # whose prompts the package knows as empty


def read_prompts(folder: Path, *, kind: str = ENCODER_TYPE) -> PromptsFile:
    """Return what FOLDER states of prompts, similarity and length; nothing where it has no such
    file.

    A model of another KIND, which gives no sentence vectors, and a default prompt that is not among
    the prompts, are a MissingError.
    """
    file = read_model_file(folder / FILE, PromptsFile) or PromptsFile()
    if file.model_type != kind and (folder / FILE).is_file():
        raise unused_type(folder, file.model_type)
    known = {*(file.prompts or {}), *(_ROLES if kind == ENCODER_TYPE else ())}
    if (name := file.default_prompt_name) and name not in known:
        raise MissingError(
            f"{folder / FILE}: no prompt {name!r}, which 'default_prompt_name' names",
            hint=RESTORE_HINT,
        )
    return file


def unused_type(folder: Path, kind: str) -> MissingError:
    """Return the error of a FOLDER whose model is of a KIND that embedlab does not use so."""
    if kind == CROSS_ENCODER:
        return MissingError(
            f"{str(folder)!r} is a cross-encoder: it scores pairs and has no vectors",
            hint=f"name it cross-encoder:{folder}",
        )
    gives, scored_by = _OTHER_TYPES.get(
        kind, (f"of the class {kind}, which gives no sentence vectors", kind)
    )
    return MissingError(
        f"{str(folder)!r} is {gives}; embedlab computes one dense vector a sentence",
        hint=f"score the pairs with {scored_by} and name them scores:FILE",
    )


def stated_prompts(folder: Path, *, kind: str = ENCODER_TYPE) -> Mapping[str, str]:
    """Return the prompts that FOLDER, a model of a KIND, states, by name."""
    return {
        name: text or "" for name, text in (read_prompts(folder, kind=kind).prompts or {}).items()
    }


def typed_prompt(wish: str, folder: Path, *, kind: str = ENCODER_TYPE) -> str:
    """Return the text of the prompt that FOLDER, a model of a KIND, calls so, or the text that was
    typed.
    """
    prompts = stated_prompts(folder, kind=kind)
    is_name = wish and not re.search(r"[\s:|]", wish)
    if is_name and wish not in prompts:
        raise unknown(
            "prompt",
            wish,
            list(prompts),
            listing=f"prompts that {str(folder)!r} states; a text ends with a colon or a space",
        )
    return prompts.get(wish, wish)
