"""The signs behind the numbers of tables, pages and pictures, each with its words: the one place
that says what they mean.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Sign:
    """One character behind a number, and what it means in a few words."""

    sign: str
    words: str
    # one character, so that columns stay in line, where a terminal's encoding lacks the sign;
    # empty: it never does
    ascii: str = ""

    def __str__(self) -> str:
        """Return the sign with its words, as below a table."""
        return f"{self.sign} {self.words}"


MODELS = Sign(sign="*", words="these recipes, or published checkpoints")  # a significant difference
CHECKPOINTS = Sign(
    sign="°", ascii="~", words="these checkpoints only"
)  # a significant difference that reaches less far
ONE_TOPIC = Sign(sign="§", ascii="$", words="hangs on one topic")
PAIRS_SHARED = Sign(sign="†", ascii="!", words="test pairs")
SENTENCES_SHARED = Sign(sign="‡", ascii="#", words="that share of the test sentences")
UNBEATEN = Sign(
    sign="●",
    ascii="@",
    words="Pareto set: no other row scores as high in as little time and as few bytes, and is "
    "better in one",
)
SIGNS = (MODELS, CHECKPOINTS, ONE_TOPIC, PAIRS_SHARED, SENTENCES_SHARED, UNBEATEN)
FEW = 0.05  # of the sentences: from here on a score has ‡ and the share; fewer have no sign

OVERLAP = "overlap"  # in the title of a table some of whose scores have one of the last three


def overlap_line(pairs: bool, sentences: bool, few: bool) -> str:
    """Return the line below a table that explains its signs of training text, of those that are
    there.
    """
    there = (
        (pairs, str(PAIRS_SHARED)),
        (sentences, str(SENTENCES_SHARED)),
        (few, "fewer than 5% of the test sentences, unmarked"),
    )
    return (
        f"[{OVERLAP}] in the training data: "
        f"{', '.join(words for is_there, words in there if is_there)}"
    )
