"""Queries of a user's own file or folder with the texts that are relevant to each.

Of pairs of anchor and positive, and of triplets, the candidates are the file's own: every different
positive and negative.
"""

import polars as pl

from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.data.dataset import ParsedRows, Part
from embedlab.data.own_data import own_data
from embedlab.data.pair_file import is_pair_file
from embedlab.data.queries import SENTENCES, Queries, queries_of_pairs
from embedlab.data.query_folder import is_query_folder, open_query_folder
from embedlab.data.row_file import read_rows, refuse_bad_texts
from embedlab.data.row_kind import PAIRS, TRIPLETS
from embedlab.data.topics import is_held_out

EQUAL, TWICE = "anchor equals its positive", "pair that occurs again"


def holds_queries(name: str) -> bool:
    """Return whether a dataset's NAME is a user's own file with pairs of anchor and positive, or
    triplets, or queries in a folder.
    """
    if is_query_folder(name):
        return True
    if not is_pair_file(name):
        return False
    try:
        return own_data(name).kind in {PAIRS, TRIPLETS}
    except (EmbedlabError, OSError):  # whoever opens it as pairs says why
        return False


def open_query_file(name: str) -> Queries:
    """Return the queries of the file that NAME means; an empty text is an error with its place.

    A row whose anchor and positive are equal says nothing of a model, and is skipped and counted,
    as is a pair that occurs again.
    """
    if is_query_folder(name):
        return open_query_folder(name)
    data = own_data(name)
    rows = read_rows(data.file.path, needed=data.texts)
    refuse_bad_texts(data.file.path, rows, data.texts)
    if data.file.held_out:
        rows = rows.filter(is_held_out(rows, data.texts, data.file.held_out))
    anchor, positive, *negative = (rows[column].cast(pl.String) for column in data.texts)
    pairs = pl.DataFrame({SENTENCES[0]: anchor, SENTENCES[1]: positive})
    others = pairs.filter(pl.col(SENTENCES[0]) != pl.col(SENTENCES[1]))
    distinct = others.unique(maintain_order=True)
    if distinct.is_empty():
        raise MissingError(
            f"{name} holds no pair of different texts",
            hint="give one anchor and its positive a row",
        )
    counts = {EQUAL: pairs.height - others.height, TWICE: others.height - distinct.height}
    skipped = {reason: count for reason, count in counts.items() if count}
    candidates = pl.concat([positive, *negative]).unique(maintain_order=True)
    part = Part.of_file(
        data.file.path, ParsedRows(frame=distinct, skipped=skipped), name=data.file.dataset
    )
    return queries_of_pairs(part, candidates.to_list())
