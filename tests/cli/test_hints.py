"""A hint works: what it says to type, typed in the same folder, does not end by the same error."""

import shlex

import pytest

from tests.cli.conftest import Embedlab
from tests.hints import hint_of, type_hints

REFUSALS = (
    "compare dice nosuch --data starter",
    "compare dice wordllama --task nosuch --data starter",
    "compare dice wordllama --data starter --where 'nosuch>1'",
    "compare dice wordllama --data starter --html nowhere/page.html",
    "evaluate dice",
    "evaluate nosuch --data starter",
    "train nosuch --data starter",
    "train snli-supcl",
    "train snli-supcl --data starter --encoder nosuch",
    "train snli-supcl --data starter --resume",
    "grid run nosuch",
    "grid table nosuch",
    "grid cancel nosuch",
    "reproduce nosuch",
    "reproduce liao nosuch",
    "runs show nosuch",
    "runs log nosuch",
    "runs resume nosuch",
    "runs cancel nosuch",
    "runs rm nosuch",
    "export nosuch exported",
    "models get nosuch",
    "data ls nosuch",
    "data check nosuch --data starter",
    "data check",
    "data ls --selections --remove nosuch",
    "pairs dice --data starter --sort nosuch",
    "encode wordllama nosuch.txt --out a.npy",
    "recipes nosuch",
    "same a.json b.json",
    "nosuch",
    "compare --nosuch",
)


@pytest.mark.parametrize("line", REFUSALS)
def test_what_a_hint_names_does_not_end_by_the_same_error(embedlab: Embedlab, line: str) -> None:
    words = shlex.split(line)
    answer = embedlab(*words)
    assert answer.code not in (0, 1)
    assert hint_of(answer.err), answer.err
    type_hints(embedlab, words, answer)
