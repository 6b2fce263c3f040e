"""The corpora that the card of a model says it was trained on, and what of their text is at hand.

A corpus that is not at hand may hold any test sentence: nothing is known of it, which is not the
same as nothing shared.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.core.errors import EmbedlabError
from embedlab.core.foreign_files import MIB, refuse_foreign
from embedlab.data.overlaps import KnownText, sentence_columns
from embedlab.data.source import Source, dataset
from embedlab.data.words import normalise

CARD = "README.md"
LARGEST_CARD = 4 * MIB
FEWEST_WORDS = 5  # of a sentence that counts as nearly read: one word of fewer says too much
# How cards name a corpus, without its owner and in lower case, and the datasets with its text.
CORPORA: Mapping[str, tuple[str, ...]] = {
    "snli": ("snli",),
    "multi_nli": ("multinli",),
    "multinli": ("multinli",),
    "all-nli": ("snli", "multinli"),
    "flickr30k": ("captions",),
    "flickr30k-captions": ("captions",),
    "flickr30k_captions_quintets": ("captions",),
    "multi30k": ("captions",),
    "qqp": ("glue-qqp", "paraphrases"),
    "qqp_triplets": ("glue-qqp", "paraphrases"),
    "quora": ("glue-qqp", "paraphrases"),
    "quora-duplicates": ("glue-qqp", "paraphrases"),
    "stsb": ("sts-benchmark",),
    "stsb_multi_mt": ("sts-benchmark",),
    "stsbenchmark-sts": ("sts-benchmark",),
    "glue": ("glue-qqp", "glue-mrpc", "glue-rte", "glue-qnli", "glue-mnli", "sts-benchmark"),
    "sick": ("sick-r",),
    "sick-r": ("sick-r",),
    "wiki-split": ("wiki-split",),
    "paws": ("paws",),
    "nli_for_simcse": ("nli-triplets",),
    "nli-for-simcse": ("nli-triplets",),
    "wiki1m_for_simcse": ("wiki-1m",),
}
_SPLITS_READ = ("train",)  # cards name corpora whose test split is meant for tests


@dataclass(frozen=True, kw_only=True)
class StatedCorpus:
    """A corpus that a card names, and the text of it that is at hand."""

    name: str  # as the card names it
    rows: int = 0  # at hand; 0: its text is not
    published_rows: int | None = None
    frames: tuple[pl.DataFrame, ...] = ()

    @property
    def is_at_hand(self) -> bool:
        """Whether any of its text is."""
        return bool(self.frames)

    @property
    def title(self) -> str:
        """The name, with how much of it is at hand where that is not all."""
        if not self.is_at_hand or self.published_rows in {None, self.rows}:
            return self.name
        return f"{self.name} ({self.rows:,} of {self.published_rows:,} rows)"


def card_corpora(folder: Path) -> tuple[str, ...] | None:
    """Return the corpora that the card in the model FOLDER lists under `datasets`; None where there
    is no card, or it lists none.
    """
    path = folder / CARD
    if not path.is_file():
        return None
    from huggingface_hub import ModelCard  # 0.1 s

    try:
        refuse_foreign(path, limit=LARGEST_CARD)
        text = path.read_text(encoding="utf-8", errors="replace")
        stated = ModelCard(text, ignore_metadata_errors=True).data.get("datasets")
    except Exception:  # a damaged card can be any error of its parser
        return None
    names = [stated] if isinstance(stated, str) else list(stated or ())
    return tuple(dict.fromkeys(str(name) for name in names)) or None


def open_stated(names: Sequence[str], source: Source) -> list[StatedCorpus]:
    """Return the corpora with these NAMES, with the text of their train splits that SOURCE has."""
    return [_open_corpus(name, source) for name in names]


def _open_corpus(name: str, source: Source) -> StatedCorpus:
    frames, published = [], 0
    for own in CORPORA.get(name.rpartition("/")[2].lower(), ()):
        chosen = dataset(own)
        for split in _SPLITS_READ:
            if split not in chosen.splits:
                continue
            try:
                part = source.open(own, split)
            except EmbedlabError:  # not at hand
                continue
            frames.append(part.frame)
            published += part.state.expected_rows or len(part.frame)
    rows = sum(map(len, frames))
    return StatedCorpus(
        name=name, rows=rows, published_rows=published or None, frames=tuple(frames)
    )


def known_text(corpora: Sequence[StatedCorpus]) -> KnownText:
    """Return the text of CORPORA that is at hand, as hashes."""
    return KnownText.of(frame for corpus in corpora for frame in corpus.frames)


def nearly_known(sentences: Sequence[str], corpora: Sequence[StatedCorpus]) -> NDArray[np.bool_]:
    """Return which SENTENCES, (sentences,), differ in at most one word, left out, put in or
    replaced, from a sentence of CORPORA; case and punctuation do not count.

    Sentences are found by what they are without one of their words: nothing is compared with
    everything.
    """
    places: dict[Hashable, list[int]] = {}
    for place, sentence in enumerate(sentences):
        words = _words(sentence)
        for key in (("whole", words), *_gaps(words), *(("less", less) for _, less in _gaps(words))):
            places.setdefault(key, []).append(place)
    is_near = np.zeros(len(sentences), np.bool_)
    for sentence in _texts(corpora):
        words = _words(sentence)
        wholes = [words, *(less for _, less in _gaps(words))]
        for key in (*(("whole", whole) for whole in wholes), ("less", words), *_gaps(words)):
            is_near[places.get(key, [])] = True
    return is_near


def _words(sentence: str) -> tuple[str, ...]:
    words = normalise(sentence).split()
    return tuple(words) if len(words) >= FEWEST_WORDS else ()


def _gaps(words: tuple[str, ...]) -> list[tuple[int, tuple[str, ...]]]:
    """Return WORDS without each of them, with its place."""
    return [(place, (*words[:place], *words[place + 1 :])) for place in range(len(words))]


def _texts(corpora: Sequence[StatedCorpus]) -> Iterator[str]:
    for corpus in corpora:
        for frame in corpus.frames:
            for column in sentence_columns(frame):
                yield from frame[column].unique(maintain_order=True).to_list()
