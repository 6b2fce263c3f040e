"""Published checkpoints under short names, those that people compare with today among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from embedlab.core.errors import UsageError

if TYPE_CHECKING:
    from embedlab.core.recipe import Pooling

_QUERY = "Represent this sentence for searching relevant passages: "
E5 = {
    "sts": "query: ",
    "query": "query: ",
    "passage": "passage: ",
}  # "query: " for symmetric tasks, too
NOMIC = {  # by mteb its authors put "classification: " before sentences of STS
    "sts": "classification: ",
    "classification": "classification: ",
    "clustering": "clustering: ",
    "query": "search_query: ",
    "document": "search_document: ",
}
FOR_SEARCH = {"query": _QUERY}  # queries alone have an instruction
GEMMA = {"sts": "task: sentence similarity | query: "}  # the others are stated by its folder
INSTRUCT = {"sts": "Instruct: Retrieve semantically similar text.\nQuery: "}

# repository → its revision and its prompts. Revisions are those that mteb 2.26 states for its own
# numbers, where that revision has safetensors; the others are not pinned. Prompts are from model
# cards: "sts" is put before sentences whose similarity is compared, unless @prompt= is typed.
COMPARED: Mapping[str, tuple[str | None, Mapping[str, str]]] = {
    "sentence-transformers/all-MiniLM-L6-v2": ("8b3219a92973c328a8e22fadcfa821b5dc75636a", {}),
    "sentence-transformers/all-MiniLM-L12-v2": ("364dd28d28dcd3359b537f3cf1f5348ba679da62", {}),
    "sentence-transformers/all-mpnet-base-v2": ("9a3225965996d404b775526de6dbfe85d3368642", {}),
    "sentence-transformers/all-distilroberta-v1": (None, {}),
    "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2": (
        "e8f8c211226b894fcb81acc59f3b34ba3efd5f42",
        {},
    ),
    "sentence-transformers/paraphrase-multilingual-mpnet-base-v2": (
        "79f2382ceacceacdf38563d7c5d16b9ff8d725d6",
        {},
    ),
    "sentence-transformers/LaBSE": ("e34fab64a3011d2176c99545a93d5cbddc9a91b7", {}),
    "sentence-transformers/sentence-t5-base": ("50c53e206f8b01c9621484a3c0aafce4e55efebf", {}),
    "sentence-transformers/sentence-t5-large": ("1fc08ea477205aa54a3e5b13f0971ae16b86410a", {}),
    "sentence-transformers/sentence-t5-xl": ("2965d31b368fb14117688e0bde77cbd720e91f53", {}),
    "sentence-transformers/sentence-t5-xxl": ("4d122282ba80e807e9e6eb8c358269e92796365d", {}),
    "sentence-transformers/static-retrieval-mrl-en-v1": (
        "f60985c706f192d45d218078e49e5a8b6f15283a",
        {},
    ),
    "sentence-transformers/static-similarity-mrl-multilingual-v1": (
        "7264ea07c5365a11d7e6d87dbb6195889a13054f",
        {},
    ),
    "intfloat/e5-small-v2": ("dca8b1a9dae0d4575df2bf423a5edb485a431236", E5),
    "intfloat/e5-base-v2": ("1c644c92ad3ba1efdad3f1451a637716616a20e8", E5),
    "intfloat/e5-large-v2": ("b322e09026e4ea05f42beadf4d661fb4e101d311", E5),
    "intfloat/multilingual-e5-small": ("fd1525a9fd15316a2d503bf26ab031a61d056e98", E5),
    "intfloat/multilingual-e5-base": ("d13f1b27baf31030b7fd040960d60d909913633f", E5),
    "intfloat/multilingual-e5-large": ("ab10c1a7f42e74530fe7ae5be82e6d4f11a719eb", E5),
    "intfloat/multilingual-e5-large-instruct": (
        "baa7be480a7de1539afce709c8f13f833a510e0a",
        INSTRUCT,
    ),
    "BAAI/bge-small-en-v1.5": ("5c38ec7c405ec4b44b94cc5a9bb96e735b38267a", FOR_SEARCH),
    "BAAI/bge-base-en-v1.5": ("a5beb1e3e68b9ab74eb54cfd186867f64f240e1a", FOR_SEARCH),
    "BAAI/bge-large-en-v1.5": ("d4aa6901d3a41ba39fb536a557fa166f842b0e09", FOR_SEARCH),
    "BAAI/bge-m3": (None, {}),
    "thenlper/gte-small": ("17e1f347d17fe144873b1201da91788898c639cd", {}),
    "thenlper/gte-base": ("c078288308d8dee004ab72c6191778064285ec0c", {}),
    "thenlper/gte-large": ("4bef63f39fcc5e2d6b0aae83089f307af4970164", {}),
    "Alibaba-NLP/gte-modernbert-base": ("7ca8b4ca700621b67618669f5378fe5f5820b8e4", {}),
    "nomic-ai/modernbert-embed-base": ("5960f1566fb7cb1adf1eb6e816639cf4646d9b12", NOMIC),
    "mixedbread-ai/mxbai-embed-large-v1": ("990580e27d329c7408b3741ecff85876e128e203", FOR_SEARCH),
    "Snowflake/snowflake-arctic-embed-s": ("d3c1d2d433dd0fdc8e9ca01331a5f225639e798f", FOR_SEARCH),
    "Snowflake/snowflake-arctic-embed-m": ("cc17beacbac32366782584c8752220405a0f3f40", FOR_SEARCH),
    "Snowflake/snowflake-arctic-embed-l": ("9a9e5834d2e89cdd8bb72b64111dde496e4fe78c", FOR_SEARCH),
    "Snowflake/snowflake-arctic-embed-m-v1.5": (
        "97eab2e17fcb7ccb8bb94d6e547898fa1a6a0f47",
        FOR_SEARCH,
    ),
    "Snowflake/snowflake-arctic-embed-l-v2.0": ("edc2df7b6c25794b340229ca082e7c78782e6374", {}),
    "google/embeddinggemma-300m": ("64614b0b8b64f0c6c1e52b07e4e9a4e8fe4d2da2", GEMMA),
    "Qwen/Qwen3-Embedding-0.6B": ("b22da495047858cce924d27d76261e96be6febc0", {}),
    "Qwen/Qwen3-Embedding-4B": ("636cd9bf47d976946cdbb2b0c3ca0cb2f8eea5ff", {}),
    "Qwen/Qwen3-Embedding-8B": ("4e423935c619ae4df87b646a3ce949610c66241c", {}),
    "minishlab/potion-base-2M": ("389b9f64be5aa4ae7a6bc6fe95ef20ce485ae5da", {}),
    "minishlab/potion-base-4M": ("9b3cff412d30be9ae8603fe10224c224f3401869", {}),
    "minishlab/potion-base-8M": ("bf8b056651a2c21b8d2565580b8569da283cab23", {}),
    "minishlab/potion-base-32M": ("1e5a03f8eeb2c98b928fbbd846f22f816360919f", {}),
    "minishlab/potion-multilingual-128M": ("73908c3438cf03b6a01bcb9611d62b23d0726f08", {}),
}

# These repositories compute by code of their own, which embedlab does not run: short name → what is
# near to it.
NEEDING_CODE: Mapping[str, str] = {
    "gte-base-en-v1.5": "gte-modernbert-base",
    "gte-large-en-v1.5": "gte-modernbert-base",
    "nomic-embed-text-v1": "modernbert-embed-base",
    "nomic-embed-text-v1.5": "modernbert-embed-base",
    "snowflake-arctic-embed-m-long": "snowflake-arctic-embed-l-v2.0",
    "snowflake-arctic-embed-m-v2.0": "snowflake-arctic-embed-l-v2.0",
}


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
            f"{name!r} needs code from its repository, which embedlab does not run",
            hint=f"{NEEDING_CODE[name]} needs none",
        )
    return CATALOG.get(SHORT_NAMES.get(name, name))
