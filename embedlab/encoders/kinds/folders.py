"""Folders whose modules embedlab does not compute itself, through sentence-transformers:
`sentence-transformers:FOLDER`, and those that score pairs of texts which they read together:
`cross-encoder:FOLDER`.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from embedlab.choices import Similarity
from embedlab.core.errors import MissingError, in_one_line
from embedlab.core.paths import typed_path
from embedlab.encoders.encoder import EncoderFacts, Vectors, no_similarities
from embedlab.models.adapters import named_base
from embedlab.models.config import native_notes, refuse_head
from embedlab.models.encoder_kind import OPTIONS, EncoderKind
from embedlab.models.folder_files import (
    ADAPTER,
    AdapterFile,
    TokenizerFile,
    named_files,
    read_model_file,
    read_stated,
    refuse_no_vocabulary,
)
from embedlab.models.modules import (
    BROUGHT,
    MODULES,
    OWN_POOLING,
    PACKAGE,
    all_modules,
    listed_modules,
    prompt_text,
    read_prompts,
    stated_similarity,
)

if TYPE_CHECKING:
    from embedlab.encoders.cross_encoder import CrossEncoderScorer
    from embedlab.encoders.device import Machine
    from embedlab.models.catalog import ModelSpec


PLUGINS = {
    "encoders": {
        "sentence-transformers": "SENTENCE_TRANSFORMERS",
        "cross-encoder": "CROSS_ENCODER",
    }
}
OWN_OPTIONS = ("prompt", "role", "code")
# tokenizers without a vocabulary
_OF_BYTES = {"ByT5Tokenizer", "CanineTokenizer", "PerceiverTokenizer"}


class SentenceTransformersEncoder:
    """The vectors of sentence-transformers' own `encode`, in float32 on the CPU."""

    def __init__(
        self, encode: Any, notes: Sequence[str], tokenizer: Any, similarity: str | None
    ) -> None:
        self.facts = EncoderFacts(pooling="sentence-transformers", notes=tuple(notes))
        self._encode, self._tokenizer = encode, tokenizer
        self.similarity_fn_name = similarity
        self._unknown: set[str] = set()

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """One vector a sentence, in order."""
        if self._tokenizer is not None:
            from embedlab.encoders.tokens import are_unknown, gather_rows

            tokens = self._tokenizer(list(sentences))["input_ids"]
            rows = gather_rows(tokens, np.zeros(len(tokens), np.bool_))
            unknown_rows = np.flatnonzero(are_unknown(rows, self._tokenizer)).tolist()
            self._unknown.update(sentences[row] for row in unknown_rows)
            self.facts = replace(self.facts, unknown_texts=len(self._unknown))
        return np.asarray(self._encode(list(sentences), show_progress_bar=False), np.float32)


def open_folder(
    location: str, *, prompt: str | None = None, role: str | None = None, code: str | None = None
) -> SentenceTransformersEncoder:
    """The model in a folder; without the package, or where it refuses the folder, a MissingError.
    Code of the folder is not run.
    """
    notes = _notes(Path(location), code)
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MissingError(
            "sentence-transformers is not installed", hint="pip install 'embedlab[st]'"
        ) from error
    from transformers import PreTrainedTokenizerFast

    from embedlab.encoders.weight_checks import silence_transformers, vocabulary_notes

    try:
        with silence_transformers():
            model = SentenceTransformer(
                location, device="cpu", local_files_only=True, trust_remote_code=False
            )
    except Exception as error:  # whatever it raises over files that are not its own
        reason = in_one_line(error)
        raise MissingError(
            f"sentence-transformers cannot load {location!r}: {reason}",
            hint="is it a whole folder that it wrote?",
        ) from error
    tokenizer, backbone = (getattr(model[0], name, None) for name in ("tokenizer", "auto_model"))
    if isinstance(tokenizer, PreTrainedTokenizerFast) and backbone is not None:
        embedding_count = len(backbone.get_input_embeddings().weight)
        notes += vocabulary_notes(Path(location), tokenizer, embedding_count)
    else:
        tokenizer = None
    options: dict[str, str] = {}
    if prompt is not None:
        options["prompt"] = prompt_text(Path(location), read_prompts(Path(location)), prompt)
    if role is not None:
        options["task"] = role
    encode = partial(model.encode, **options)
    return SentenceTransformersEncoder(encode, notes, tokenizer, _similarity(location))


def _notes(folder: Path, code: str | None) -> list[str]:
    """Return the notes on a model. A model that the package would open differently is refused: code
    that it does not run, a head that it drops, another class.
    """
    read_prompts(folder)
    modules = all_modules(folder)
    for name, _ in modules:
        if "." in name and not name.startswith((PACKAGE, OWN_POOLING)):
            raise MissingError(
                f"{str(folder)!r} has a module {name!r} of another package, whose code is not run",
                hint=BROUGHT,
            )
    notes = native_notes(folder, (folder, *(path for _, path in modules)), code)
    for name, path in listed_modules(folder) or [("Transformer", folder)]:
        tokenizer_file = read_stated(path / "tokenizer_config.json", TokenizerFile)
        if name == "Transformer" and tokenizer_file.tokenizer_class not in _OF_BYTES:
            refuse_no_vocabulary(path)
    if not (folder / MODULES).is_file() and (folder / "config.json").is_file():
        refuse_head(folder, folder)
    return notes


def _similarity(location: str) -> Similarity:
    return stated_similarity(location, read_prompts(Path(location)).similarity_fn_name)


def _existing_folder(location: str, *, hint: str) -> str:
    folder = typed_path(location)
    if not folder.is_dir():
        raise MissingError(f"no model folder {str(folder)!r}", hint=hint)
    return str(folder)


def _bases(location: str) -> Iterator[Path]:
    """Yield the base models that adapters in a folder name; a path in the folder's files that
    leaves it is a MissingError.
    """
    folder = Path(location)
    for path in (folder, *dict.fromkeys(path for _, path in all_modules(folder))):
        named_files(path)
        adapter = read_model_file(path / ADAPTER, AdapterFile)
        if adapter is not None:
            with suppress(MissingError):  # the package says that it is missing
                yield named_base(adapter)


SENTENCE_TRANSFORMERS = EncoderKind(
    open=open_folder,
    locate=partial(
        _existing_folder, hint="sentence-transformers:FOLDER takes a folder that it wrote"
    ),
    backend="sentence-transformers",
    options=(*OPTIONS, *OWN_OPTIONS),
    opened_with=OWN_OPTIONS,
    pooling="sentence-transformers",
    similarity=_similarity,
    further=_bases,
)


def _load(spec: "ModelSpec", fingerprint: str, machine: "Machine") -> "CrossEncoderScorer":
    """Load the cross-encoder of SPEC."""
    from embedlab.encoders.cross_encoder import load_cross_encoder  # torch

    return load_cross_encoder(spec, fingerprint, machine)


CROSS_ENCODER = EncoderKind(
    open=no_similarities(
        "{!r} has no vectors: it only scores pairs", hint="use it with compare, pairs and evaluate"
    ),
    locate=partial(
        _existing_folder,
        hint="cross-encoder:FOLDER takes a folder, cross-encoder:OWNER/NAME a model of the hub",
    ),
    backend="torch",
    options=("label", "activation", "prompt"),
    has_vectors=False,
    scorer=_load,
)
