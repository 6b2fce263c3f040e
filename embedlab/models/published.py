"""Published checkpoints under short names."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from embedlab.core.errors import UsageError
from embedlab.core.recipe import Pooling
from embedlab.models.compared import COMPARED, NEEDING_CODE


@dataclass(frozen=True, kw_only=True)
class Published:
    """A published checkpoint on the hub."""

    name: str
    repository: str
    pooling: (
        Pooling | None
    )  # as its authors evaluated it; absent for an encoder without fine-tuning
    note: str | None = None
    training_text: (
        tuple[str, ...] | None
    ) = ()  # as its authors state it, pre-training included; None: it is unknown
    revision: str | None = None
    prompts: Mapping[str, str] = field(
        default_factory=dict
    )  # by name; "sts" holds where none is typed


# SBERT: Reimers & Gurevych 2019, table 1 (mean). DefSent: Tsukagoshi et al. 2021, the pooling is in
# the repository's name. SimCSE: Gao et al. 2021; plain [CLS] for the unsupervised models, through
# the pooling layer for the supervised ones.
_LAYER = "published scores take [CLS] through the pooling layer, which embedlab omits"
_PUBLISHED: tuple[tuple[str, str, Pooling | None], ...] = (
    ("bert-base-uncased", "google-bert/bert-base-uncased", None),
    ("bert-large-uncased", "google-bert/bert-large-uncased", None),
    ("roberta-base", "FacebookAI/roberta-base", None),
    ("roberta-large", "FacebookAI/roberta-large", None),
    ("sbert-bert-base", "sentence-transformers/bert-base-nli-mean-tokens", "mean"),
    ("sbert-bert-large", "sentence-transformers/bert-large-nli-mean-tokens", "mean"),
    ("sbert-roberta-base", "sentence-transformers/roberta-base-nli-mean-tokens", "mean"),
    ("sbert-roberta-large", "sentence-transformers/roberta-large-nli-mean-tokens", "mean"),
    ("defsent-bert-base", "cl-nagoya/defsent-bert-base-uncased-mean", "mean"),
    ("defsent-bert-base-cls", "cl-nagoya/defsent-bert-base-uncased-cls", "cls"),
    ("defsent-bert-base-max", "cl-nagoya/defsent-bert-base-uncased-max", "max"),
    ("defsent-bert-large", "cl-nagoya/defsent-bert-large-uncased-mean", "mean"),
    ("defsent-bert-large-cls", "cl-nagoya/defsent-bert-large-uncased-cls", "cls"),
    ("defsent-bert-large-max", "cl-nagoya/defsent-bert-large-uncased-max", "max"),
    ("defsent-roberta-base", "cl-nagoya/defsent-roberta-base-mean", "mean"),
    ("defsent-roberta-base-cls", "cl-nagoya/defsent-roberta-base-cls", "cls"),
    ("defsent-roberta-base-max", "cl-nagoya/defsent-roberta-base-max", "max"),
    ("defsent-roberta-large", "cl-nagoya/defsent-roberta-large-mean", "mean"),
    ("defsent-roberta-large-cls", "cl-nagoya/defsent-roberta-large-cls", "cls"),
    ("defsent-roberta-large-max", "cl-nagoya/defsent-roberta-large-max", "max"),
    ("unsup-simcse-bert-base", "princeton-nlp/unsup-simcse-bert-base-uncased", "cls"),
    ("unsup-simcse-bert-large", "princeton-nlp/unsup-simcse-bert-large-uncased", "cls"),
    ("unsup-simcse-roberta-base", "princeton-nlp/unsup-simcse-roberta-base", "cls"),
    ("unsup-simcse-roberta-large", "princeton-nlp/unsup-simcse-roberta-large", "cls"),
    ("simcse-bert-base", "princeton-nlp/sup-simcse-bert-base-uncased", "cls"),
    ("simcse-bert-large", "princeton-nlp/sup-simcse-bert-large-uncased", "cls"),
    ("simcse-roberta-base", "princeton-nlp/sup-simcse-roberta-base", "cls"),
    ("simcse-roberta-large", "princeton-nlp/sup-simcse-roberta-large", "cls"),
)
SHORT_NAMES: Mapping[str, str] = {
    "sbert": "sbert-bert-base",
    "defsent": "defsent-bert-base",
    "simcse": "simcse-bert-base",
}

# Devlin et al. 2019, section 3.1, and Liu et al. 2019, section 3.2; then the fine-tuning data, from
# the papers above.
_BERT_TEXT = ("BooksCorpus", "English Wikipedia")
_ROBERTA_TEXT = (*_BERT_TEXT, "CC-News", "OpenWebText", "Stories")
_TUNED_ON = {
    "sentence-transformers": ("SNLI", "MultiNLI"),
    "cl-nagoya": ("dictionary definitions",),
    "princeton-nlp": ("SNLI", "MultiNLI"),
}


def _training_text(repository: str) -> tuple[str, ...]:
    owner, _, name = repository.partition("/")
    return (*(_ROBERTA_TEXT if "roberta" in name else _BERT_TEXT), *_TUNED_ON.get(owner, ()))


CATALOG: Mapping[str, Published] = {
    name: Published(
        name=name,
        repository=repository,
        pooling=pooling,
        note=_LAYER if "/sup-simcse" in repository else None,
        training_text=_training_text(repository),
    )
    for name, repository, pooling in _PUBLISHED
} | {
    name: Published(
        name=name,
        repository=repository,
        pooling=None,
        training_text=None,
        revision=revision,
        prompts=prompts,
    )
    for repository, (revision, prompts) in COMPARED.items()
    for name in [repository.partition("/")[2]]
}
BY_REPOSITORY: Mapping[str, Published] = {model.repository: model for model in CATALOG.values()}


def published(name: str) -> Published | None:
    """Return the checkpoint of a short NAME, None if there is none of it; one that runs code of its
    own is a UsageError.
    """
    if name in NEEDING_CODE:
        raise UsageError(
            f"{name!r} computes by code of its repository, which embedlab does not run",
            hint=f"{NEEDING_CODE[name]} needs none",
        )
    return CATALOG.get(SHORT_NAMES.get(name, name))
