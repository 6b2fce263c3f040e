"""Published checkpoints under short names, as `published.toml` lists them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embedlab.core.errors import UsageError

if TYPE_CHECKING:
    from embedlab.core.recipe import Pooling

_LISTED: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
NEEDING_CODE: Mapping[str, str] = _LISTED["needing_code"]
SHORT_NAMES: Mapping[str, str] = {
    "sbert": "sbert-bert-base",
    "defsent": "defsent-bert-base",
    "simcse": "simcse-bert-base",
}


@dataclass(frozen=True, kw_only=True)
class Published:
    """A published checkpoint on the hub."""

    name: str
    repository: str
    # as its authors evaluated it; absent for an encoder without fine-tuning
    pooling: Pooling | None = None
    note: str | None = None
    # as its authors state it, pre-training included; None: it is unknown
    training_text: tuple[str, ...] | None = None
    revision: str | None = None
    # by name; "sts" holds where none is typed
    prompts: Mapping[str, str] = field(default_factory=dict)


# Devlin et al. 2019, section 3.1, and Liu et al. 2019, section 3.2; then the fine-tuning data.
_BERT_TEXT = ("BooksCorpus", "English Wikipedia")
_ROBERTA_TEXT = (*_BERT_TEXT, "CC-News", "OpenWebText", "Stories")
_TUNED_ON = {
    "sentence-transformers": ("SNLI", "MultiNLI"),
    "cl-nagoya": ("dictionary definitions",),
    "princeton-nlp": ("SNLI", "MultiNLI"),
}
_LAYER = "published scores take [CLS] through the pooling layer, which embedlab omits"


def _of_a_paper(name: str, repository: str, pooling: Pooling | None = None) -> Published:
    text = _ROBERTA_TEXT if "roberta" in repository else _BERT_TEXT
    return Published(
        name=name,
        repository=repository,
        pooling=pooling,
        note=_LAYER if "/sup-simcse" in repository else None,
        training_text=(*text, *_TUNED_ON.get(repository.partition("/")[0], ())),
    )


def _compared(repository: str, prompts: str = "", revision: str | None = None) -> Published:
    return Published(
        name=repository.partition("/")[2],
        repository=repository,
        revision=revision,
        prompts=_LISTED["prompts"].get(prompts, {}),
    )


BY_REPOSITORY: Mapping[str, Published] = {
    model.repository: model
    for model in (
        *(_of_a_paper(name, **stated) for name, stated in _LISTED["published"].items()),
        *(_compared(repository, **stated) for repository, stated in _LISTED["compared"].items()),
    )
}
CATALOG: Mapping[str, Published] = {model.name: model for model in BY_REPOSITORY.values()}


def published(name: str) -> Published | None:
    """Return the checkpoint of a short NAME, None if there is none of it; one that runs code of its
    own is a UsageError.
    """
    if name in NEEDING_CODE:
        raise UsageError(
            f"{name!r} needs code from its repository, which embedlab does not run",
            hint=f"{NEEDING_CODE[name]} needs none",
        )
    return CATALOG.get(SHORT_NAMES.get(name, name))
