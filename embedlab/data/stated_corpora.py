"""The corpora that the card of a model says it was trained on, and what of their text is at hand.

A corpus that is not at hand may hold any test sentence: "unknown" is not "nothing shared".
"""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedlab.core.cache import read_cached
from embedlab.core.errors import EmbedlabError
from embedlab.core.foreign_files import MIB, refuse_foreign
from embedlab.core.frame_files import read_table, write_table
from embedlab.data.overlaps import KnownText, sentence_columns
from embedlab.data.source import Source, dataset
from embedlab.data.words import normalise

CARD = "README.md"
LARGEST_CARD = 4 * MIB
_TAG = "embedlab"  # in the card of a run's model
_FRONT_MATTER = re.compile(r"\s*---\n(.*?)\n---[ \t]*(?:\n|$)", re.DOTALL)
FEWEST_WORDS = 5  # of a sentence that counts as nearly read: one word of fewer says too much
# The datasets with the text of a corpus; how cards name it, in lower case and without its owner.
_NAMES = {
    "snli": "snli",
    "multinli": "multi_nli multinli",
    "snli multinli": "all-nli",
    "captions": "flickr30k flickr30k-captions flickr30k_captions_quintets multi30k",
    "glue-qqp paraphrases": "qqp qqp_triplets quora quora-duplicates",
    "sts-benchmark": "stsb stsb_multi_mt stsbenchmark-sts",
    "glue-qqp glue-mrpc glue-rte glue-qnli glue-mnli sts-benchmark": "glue",
    "sick-r": "sick sick-r",
    "wiki-split": "wiki-split",
    "paws": "paws",
    "nli-triplets": "nli_for_simcse nli-for-simcse",
    "wiki-1m": "wiki1m_for_simcse",
}
CORPORA = {name: own.split() for own, names in _NAMES.items() for name in names.split()}
TRAIN = "train"  # cards name corpora whose test split is meant for tests
_ROWS = "embedlab-training-text"


@lru_cache(maxsize=16)  # of several models; the name of the file is that of its content
def _read_text(path: Path) -> tuple[int, KnownText]:
    """Read the text of so many rows that is in the cache."""
    frame, facts = read_table(path, hint="")
    return int(facts[_ROWS]), KnownText.of_frame(frame)


@dataclass(frozen=True, kw_only=True, eq=False)
class StatedCorpus:
    """A corpus that a card names, and the text of it that is at hand."""

    name: str  # as the card names it
    datasets: tuple[str, ...] = ()  # of which text is at hand
    rows: int = 0  # at hand
    published_rows: int = 0  # of the same datasets
    text: KnownText | None = None  # None: not at hand

    @property
    def title(self) -> str:
        """The name, with how much of it is at hand where that is not all."""
        if self.text is None or self.rows == self.published_rows:
            return self.name
        return f"{self.name} ({self.rows:,} of {self.published_rows:,} rows)"


def card_corpora(folder: Path) -> tuple[str, ...]:
    """Return the corpora that the card in the model FOLDER lists under `datasets`; none where there
    is no card, or it lists none.
    """
    return _card_list(folder, "datasets")


def is_trained_here(folder: Path) -> bool:
    """Return whether the card of the model in FOLDER says that a run of embedlab trained it."""
    return _TAG in _card_list(folder, "tags")


def _card_list(folder: Path, key: str) -> tuple[str, ...]:
    """Return the texts under KEY in the card of the model in FOLDER, each once."""
    path = folder / CARD
    if not path.is_file():
        return ()
    status = path.stat()
    stated = _front_matter(path.resolve(), status.st_size, status.st_mtime_ns).get(key)
    listed = stated if isinstance(stated, list) else [stated] if stated else []
    return tuple(dict.fromkeys(map(str, listed)))


@lru_cache(maxsize=64)  # a comparison asks several times
def _front_matter(path: Path, _size: int, _changed_ns: int) -> Mapping[str, Any]:
    """Return the data at the head of a card; a damaged card has none."""
    import yaml  # a tenth of a second quicker than huggingface_hub, whose cards it reads

    try:
        refuse_foreign(path, limit=LARGEST_CARD)
        found = _FRONT_MATTER.match(path.read_text("utf-8-sig"))
        values = yaml.safe_load(found[1]) if found else {}
    except Exception:  # any error of its parser
        return {}
    return values if isinstance(values, dict) else {}


def open_stated(names: Sequence[str], source: Source, cache: Path) -> list[StatedCorpus]:
    """Return the corpora with these NAMES, with the text of their training splits in the data
    folder of SOURCE; what was hashed before is in CACHE.
    """
    source = replace(source, offline=True, allow_partial=True)
    return [_open_corpus(name, source, cache / "training-text") for name in names]


def _open_corpus(name: str, source: Source, cache: Path) -> StatedCorpus:
    texts: dict[str, tuple[int, KnownText]] = {}
    published_rows = 0
    for dataset_name in CORPORA.get(name.rpartition("/")[2].lower(), ()):
        chosen = dataset(dataset_name)
        with suppress(EmbedlabError):  # damaged, or half there: not at hand
            hashes = source.hashes(chosen, TRAIN) if TRAIN in chosen.splits else {}
            if not hashes:
                continue
            content = repr((dataset_name, sorted(hashes.items())))
            key = sha256(content.encode()).hexdigest()[:16]
            path = cache / f"{key}.parquet"
            text = read_cached(path, _read_text)
            if text is None:
                frame = source.open_split(chosen, TRAIN).frame
                text = len(frame), KnownText.of([frame])
                with suppress(OSError, EmbedlabError):  # a full disk costs time alone
                    write_table(path, text[1].frame, {_ROWS: str(len(frame))})
            texts[dataset_name] = text
            expected = chosen.splits[TRAIN].expected
            published_rows += expected.rows if expected else text[0]
    return StatedCorpus(
        name=name,
        datasets=tuple(texts),
        rows=sum(rows for rows, _ in texts.values()),
        published_rows=published_rows,
        text=KnownText.union([text for _, text in texts.values()]),
    )


def nearly_known(sentences: Sequence[str], known_sentences: Iterable[str]) -> NDArray[np.bool_]:
    """Return which SENTENCES, (sentences,), equal one of KNOWN SENTENCES but for at most one word
    that was left out, put in or replaced; case and punctuation do not count.

    Sentences are looked up by their texts without one word, so that not all pairs are compared.
    """
    places: dict[Hashable, list[int]] = {}
    for index, sentence in enumerate(sentences):
        for key in _near_keys(sentence):
            places.setdefault(key, []).append(index)
    is_near = np.zeros(len(sentences), np.bool_)
    for sentence in known_sentences:
        for key in _near_keys(sentence):
            is_near[places.get(key, [])] = True
    return is_near


def _near_keys(sentence: str) -> Iterator[Hashable]:
    """Yield the keys of which sentences that differ by at most one word share one: with each place,
    the words without the one at it, and all words, as a word may be missing there.
    """
    words = normalise(sentence).split()
    if len(words) < FEWEST_WORDS:
        return
    for place in range(len(words) + 1):
        yield place, tuple(words)
        yield place, (*words[:place], *words[place + 1 :])


def stated_sentences(corpora: Iterable[StatedCorpus], source: Source) -> Iterator[str]:
    """Yield each sentence of CORPORA that is at hand in SOURCE, once a column."""
    source = replace(source, offline=True, allow_partial=True)
    for dataset_name in dict.fromkeys(name for corpus in corpora for name in corpus.datasets):
        frame = source.open_split(dataset(dataset_name), TRAIN).frame
        for column in sentence_columns(frame):
            yield from frame[column].unique(maintain_order=True).to_list()
