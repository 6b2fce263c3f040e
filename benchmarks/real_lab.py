"""A small folder of real corpora, and a small encoder that knows their words: what the programs
work on that compare two checkouts. Nothing here is imported from embedlab, because both checkouts
must read the same.
"""

import argparse
import gzip
import json
import re
import shutil
import string
import sys
from collections import Counter
from pathlib import Path

LINES = 600  # of each file that is cut
WHOLE = ("STS", "retrieval")  # folders of which every row is taken
LEFT_OUT = ("word_vectors", "probing_gum", "wiki_split")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
# The corpora are cut on purpose, and no command may fetch the rest from a hub.
SETTINGS = {
    "EMBEDLAB_ALLOW_PARTIAL": "1",
    "EMBEDLAB_CACHE": "cache",
    "EMBEDLAB_OFFLINE": "1",
    "EMBEDLAB_THREADS": "1",
}


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """Let a program take the folder of corpora."""
    parser.add_argument(
        "--data",
        type=Path,
        required=True,
        metavar="DIR",
        help="real corpora in their own layouts: STS, SentEval, SNLI, GLUE and so on",
    )


def cut_corpora(data: Path, folder: Path) -> Path:
    """Copy the corpora of DATA to FOLDER: the STS sets whole, of other files the first lines."""
    if not (data / "STS").is_dir():
        sys.exit(f"--data {data}: there is no folder STS in it; give a folder of real corpora")
    for path in sorted(data.rglob("*")):
        place = path.relative_to(data)
        if not path.is_file() or place.parts[0] in LEFT_OUT:
            continue
        copied = folder / place
        copied.parent.mkdir(parents=True, exist_ok=True)
        if place.parts[0] in WHOLE:
            shutil.copyfile(path, copied)
        else:
            opened = gzip.open if path.suffix == ".gz" else open
            with opened(path, "rb") as source, opened(copied, "wb") as target:
                target.writelines(line for _, line in zip(range(LINES), source, strict=False))
    return folder


def write_queries(data: Path, folder: Path) -> None:
    """Write queries in BEIR's layout: captions of one picture find each other, 40 of 160."""
    captions = []
    for number in (1, 2):
        path = data / "multi30k_captions" / f"val.{number}.en.gz"
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            captions.append(lines.read().splitlines())
    rows = {
        "corpus.jsonl": [
            {"_id": f"d{n}", "title": "", "text": text} for n, text in enumerate(captions[0][:160])
        ],
        "queries.jsonl": [
            {"_id": f"q{n}", "text": text} for n, text in enumerate(captions[1][:40])
        ],
    }
    (folder / "qrels").mkdir(parents=True)
    for name, lines in rows.items():
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    qrels = "".join(f"q{number}\td{number}\t1\n" for number in range(40))
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + qrels)


def frequent_words(data: Path, number: int = 2000) -> list[str]:
    """Return the most frequent words of the STS sets and of the defined words."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(data.glob("STS/*/*input*.txt"))]
    counted = Counter(word for text in texts for word in re.findall(r"[a-z]+", text.lower()))
    lines = (data / "OEWN" / "definitions.tsv").read_text(encoding="utf-8").splitlines()
    defined = [word for line in lines if (word := line.partition("\t")[0].lower()).isalpha()]
    return list(dict.fromkeys([*(word for word, _ in counted.most_common(number)), *defined]))


def write_encoder(
    folder: Path, words: list[str], *, seed: int = 1, layers: int = 2, hidden: int = 32
) -> None:
    """Write a BERT with random weights and a head for masked words into FOLDER; each of WORDS is
    one token, others are spelled in letters.
    """
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

    letters = string.ascii_lowercase + string.digits + string.punctuation
    pieces = [*SPECIAL, *words, *letters, *(f"##{letter}" for letter in letters)]
    ids = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(mark, ids[mark]) for mark in ("[CLS]", "[SEP]")],
    )
    config = BertConfig(
        vocab_size=len(ids),
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=2 * hidden,
        max_position_embeddings=128,
        pad_token_id=0,
    )
    torch.manual_seed(seed)
    BertForMaskedLM(config).save_pretrained(folder)
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=128,
        **dict(zip(names, SPECIAL, strict=True)),
    ).save_pretrained(folder)
