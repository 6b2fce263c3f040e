"""What people call the columns of their files, the splits of their rows, and their labels.

Names count without case and signs, and in any script.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

import polars as pl

from embedlab.data.dataset import NLI_LABELS
from embedlab.data.table_file import NOTHING, class_texts

# Names without case and signs under which people have each part.
_NAMES: Mapping[str, str] = {
    "s1": "sentence1 sentencea text1 texta s1 sent1 question1 q1 premise left phrase1",
    "s2": "sentence2 sentenceb text2 textb s2 sent2 question2 q2 hypothesis right phrase2",
    "score": "score gold goldscore similarity similarityscore sim rating grade relatedness "
    "relatednessscore humanscore meanscore averagescore avgscore",
    "label": "label labels goldlabel class isduplicate duplicate entailment entailmentlabel "
    "entailmentjudgment",
    "anchor": "anchor query question prompt title sent0",
    "positive": "positive pos entailed answer response reply passage document doc context "
    "paragraph body answers passages documents docs",
    "negative": "negative neg hardneg wrong distractor contradicted",
    "sentence": "sentence sentences text texts content line",
}
_ROLES = {name: role for role, names in _NAMES.items() for name in names.split()}
# Names that are those of positives and negatives too: positives, pos_2, hard_negative_passages.
_MORE = re.compile(
    r"(?P<positive>(positives?|pos)\d*|positive(passage|ctx|doc|document|text)s?)"
    r"|(?P<negative>(hard)?(negatives?|neg)\d*|(hard)?negative(passage|ctx|doc|document|text)s?)"
)
# of columns that say something about a row alone
_FACT_NAMES = (
    "# id ids idx index rowid pairid qid pid docid guid uid uuid unnamed0 indexlevel0 number no "
    "source split genre topic category domain dataset lang language author user annotator tags "
    "keywords metadata date time timestamp year created updated url link file filename page"
)
FACTS = {"", *_FACT_NAMES.split()}
# in a column that says whether two texts are the same
SAME_COLUMNS = ("isduplicate", "duplicate", "isparaphrase", "paraphrase", "issimilar")
MOST_LABELS = 20  # different values of a column of labels
LABEL_WORDS = 3
_SPLIT_COLUMNS = re.compile(
    r"splits?|partition|datasplit|subset|cv|(cv|k)?folds?(id|no|number)?|.*train.*test.*"
    r"|(is|in|for)?(train|training|test|testing|dev|development|val|valid|validation|eval"
    r"|evaluation|heldout|holdout)(set|split)?"
)
_SPLITS = re.compile(
    r"train|training|trn|trial|dev|devel|development|val|valid|validation|eval|evaluation|test"
    r"|testing|tst|heldout|entrenamiento|entraînement|addestramento|treinamento|treino|prueba|prova"
    r"|teste|validación|validação|prüfung|обуч\w*|тест\w*|валид\w*|провер\w*|[训訓][练練]集?|[测測][试試]集?"
    r"|[验驗][证證]集?|开发集|(訓練|学習|評価|検証|テスト)(用|データ)?|훈련|학습|검증|평가|테스트|تدريب|اختبار"
)
_OPPOSITE = re.compile(
    r"^(not|non|is(not|non))|differ|distan|dissim|euclid|manhattan|unrelated|contradict|error"
)
_HELD_OUT = ("dev", "val", "eval", "test", "tst", "heldout")

# What labels mean that people write so; of no other a meaning is offered.
_MEANINGS = {
    label: meaning
    for meaning, labels in {
        NLI_LABELS[0]: "entailment entails entailed entail e duplicate isduplicate paraphrase "
        "isparaphrase similar equivalent same yes true",
        NLI_LABELS[1]: "neutral n",
        NLI_LABELS[2]: "contradiction contradicts contradictory c contradicted contradict "
        "different dissimilar notduplicate nonduplicate notparaphrase nonparaphrase notsimilar "
        "notequivalent no false",
    }.items()
    for label in labels.split()
}
_NUMBERED = dict(zip("012", NLI_LABELS, strict=True))  # SNLI on the hub
_TWO_NUMBERED = {"0": NLI_LABELS[2], "1": NLI_LABELS[0]}  # of two texts that are the same or not
# labels that say something only together with the name of their column: "yes" of `mismatch`
_TRUTHS = {"yes", "no", "true", "false"}
# SNLI's files and SNLI on the hub where people did not agree
_NO_LABEL = ("-", "-1")
NO_MEANING = (*NOTHING, "?", "unknown")


@lru_cache(maxsize=10_000)
def name_key(name: str) -> str:
    """Return the letters and digits of a NAME, of any script, without case; a name of signs only is
    returned as it is.
    """
    text = unicodedata.normalize("NFKC", name).casefold()
    letters = "".join(sign for sign in text if unicodedata.category(sign)[0] in "LNM")
    return letters or text.strip()


def usual_role(name: str) -> str | None:
    """Return the part that a column of this NAME is nearly everywhere."""
    return _ROLES.get(name_key(name))


def role_of(name: str) -> str:
    """Return the part that a column is by its NAME, or an empty text."""
    match = _MORE.fullmatch(name_key(name))
    return (match and match.lastgroup) or usual_role(name) or ""


def is_opposite(name: str) -> bool:
    """Return whether a number in a column of this NAME is no similarity, or the opposite of one."""
    return bool(_OPPOSITE.search(name_key(name)))


def says_split(column: str, value: str) -> bool:
    """Return whether a COLUMN is called as one of splits, or a VALUE of it names a split."""
    return bool(_SPLIT_COLUMNS.fullmatch(name_key(column)) or _named_split(value))


def _named_split(value: str) -> str:
    """Return the split that a VALUE of few words names, as sts-train.csv does; otherwise an empty
    text.
    """
    words = re.findall(r"[^\W\d_]+", value.casefold())
    candidates = [name_key(value)]
    if len(words) <= LABEL_WORDS:
        candidates += words
    return next(filter(_SPLITS.fullmatch, candidates), "")


def split_column(
    rows: pl.DataFrame, settled_columns: Collection[str]
) -> tuple[str, dict[str, int]] | None:
    """Return the column of ROWS that says which split a row is in, with the number of rows of each
    split; otherwise a column that says that all are for testing; otherwise None. SETTLED COLUMNS do
    not count.
    """
    columns = []
    for column in rows.drop(settled_columns, strict=False).get_columns():
        value = column.first(ignore_nulls=True)
        if value is None or is_other(column.dtype) or not says_split(column.name, str(value)):
            continue
        counts = class_texts(column).fill_null("").value_counts(sort=True)
        values = dict(counts.iter_rows())
        if len(values) > MOST_LABELS:
            continue
        splits = {*map(_named_split, values)}
        is_split_column = says_split(column.name, "")
        if len(values) == 1:
            is_split_column &= splits.pop().startswith(_HELD_OUT)
        else:
            is_split_column |= "" not in splits and len(splits) > 1
        if is_split_column:
            columns.append((column.name, values))
    return max(columns, key=lambda named_counts: len(named_counts[1]) > 1, default=None)


def suggested_meanings(column: str, labels: Sequence[str]) -> dict[str, str]:
    """Return what LABELS of a COLUMN mean if all of them are usual ways to write such labels,
    otherwise nothing; values that mean "no label" do not count.
    """
    given_labels = [label for label in labels if not is_no_label(label)]
    keys = [*map(name_key, given_labels)]
    is_same = name_key(column) in SAME_COLUMNS
    is_label = is_same or usual_role(column) == "label"
    if _MEANINGS.keys() >= {*keys} and (is_label or _TRUTHS.isdisjoint(keys)):
        return {label: _MEANINGS[key] for label, key in zip(given_labels, keys, strict=True)}
    numbers = {label: whole(label) for label in given_labels}
    meanings = _TWO_NUMBERED if is_label and len(numbers) == 2 else _NUMBERED
    may_be_three = len(numbers) == 2 and not is_same and _NO_LABEL[1] in map(whole, labels)
    if may_be_three or {*numbers.values()} != meanings.keys():
        return {}
    return {label: meanings[number] for label, number in numbers.items()}


def whole(label: str) -> str:
    """Return a LABEL that is a whole number with a point without the point."""
    return label.removesuffix(".0")


def is_no_label(label: str) -> bool:
    """Return whether a LABEL says that there is none."""
    return whole(label) in _NO_LABEL or label.strip().casefold() in NO_MEANING


def no_labels(labels: Collection[str]) -> tuple[str, ...]:
    """Return the values that are no label or score, where no meaning is given to them, as to
    LABELS.
    """
    return () if _NO_LABEL[0] in labels else _NO_LABEL[:1]


def is_other(dtype: pl.DataType) -> bool:
    """Return whether values of a type are neither texts, numbers nor labels."""
    is_nested_or_time = dtype.is_nested() or dtype.is_temporal()
    return is_nested_or_time or dtype.base_type() in {pl.Binary, pl.Object}
