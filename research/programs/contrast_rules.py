"""Contrasts made by rules from SICK, a sample of each read through: how often a rule makes
something that is not one.

    python research/programs/contrast_rules.py --data DIR [--list] [--write]

A triple is a pair of SICK that people labelled entailment and scored 4.5 of 5 or more, and its
second sentence as a rule changes it. `number` is the rule of `explain --edit number`, whose triples
are the set `contrast-number`; `roles`, of which no set is made, exchanges the two noun phrases of a
sentence such as "The dog is licking the baby". Of each, 50 triples that a fixed seed draws were
read once, by a language model: wrong is a changed sentence that does not contradict the first one,
or that no person would write. `--list` prints them with what was found. SICK may not be shipped:
the readings are by the places of the triples, and are refused where the data give others.
"""

import argparse
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import beta

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from record import write_table

from embedlab.core.errors import UsageError
from embedlab.data.derived import open_contrasts
from embedlab.data.source import Source

READ, SEED, LEAST = 50, 0, 4.5
_DETERMINER, _NOUNS = "an?|the|two|three|one|some", r"(?:\w+ ){0,2}?\w+"
_ACTION = re.compile(
    rf"(?i)({_DETERMINER}) ({_NOUNS}) (is|are) (\w+ing) ({_DETERMINER}) ({_NOUNS})([.]?)"
)

Triple = tuple[str, str, str]


def exchanged(sentence: str) -> str | None:
    """Return SENTENCE with its two noun phrases exchanged; None where it is not two of them around
    "is …ing".
    """
    found = _ACTION.fullmatch(sentence)
    if found is None:
        return None
    first, noun, verb, action, second, other, end = found.groups()
    return f"{second.capitalize()} {other} {verb} {action} {first.lower()} {noun}{end}"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What reading the sample found."""

    triples: Callable[[Path], list[Triple]]  # of a data folder
    sample: str  # digest of the texts that were read
    wrong: Mapping[int, str]  # by the place of the triple among all of the rule


_CANNOT, _VERB = "its subject cannot do this", "its verb does not fit its subject"
_THINGS = (
    *(5, 10, 18, 31, 36, 44, 47, 63, 83, 117, 147, 155, 158, 159, 160, 161, 164, 166, 167, 181),
    *(
        186,
        192,
        195,
        210,
        213,
        215,
        220,
        221,
        226,
        232,
        233,
        235,
        238,
        273,
        279,
        283,
        290,
        294,
        295,
        299,
        302,
    ),
)
READINGS = {
    "number": Reading(
        triples=lambda data: open_contrasts(Source(folder=data), "contrast-number").frame.rows(),
        sample="40e3e413996d6f03",
        wrong={36: "a dog with three front paws", 116: "five children, three girls and one boy"},
    ),
    "roles": Reading(
        triples=lambda data: with_exchanged_roles(data),
        sample="15115c67771e67cd",
        wrong={**dict.fromkeys(_THINGS, _CANNOT), **dict.fromkeys((0, 39, 182, 291), _VERB)},
    ),
}


def with_exchanged_roles(data: Path) -> list[Triple]:
    """Return the triples of SICK whose second sentence has two noun phrases to exchange, in its
    order.
    """
    source = Source(folder=data)
    labelled, scored = (
        pl.concat([source.open(name, split).frame for split in ("train", "dev", "test")])
        for name in ("sick-e", "sick-r")
    )
    both = ["sentence1", "sentence2"]
    pairs = labelled.join(scored.select(*both, "gold"), on=both, maintain_order="left").filter(
        (pl.col("label").str.to_lowercase() == "entailment") & (pl.col("gold") >= LEAST)
    )
    rows = pairs.select(both).unique(maintain_order=True).rows()
    return [
        (first, second, changed)
        for first, second in rows
        if (changed := exchanged(second)) is not None
    ]


def drawn(found: list[Triple]) -> dict[int, Triple]:
    """Return the triples that are read, by place."""
    return {
        int(place): found[place]
        for place in np.random.default_rng(SEED).permutation(len(found))[:READ]
    }


def row(name: str, reading: Reading, found: list[Triple]) -> tuple[str, ...]:
    """Return the cells of a rule; other triples than those that were read are a UsageError."""
    sample = drawn(found)
    digest = sha256(repr([*sample.items()]).encode()).hexdigest()[:16]
    if digest != reading.sample or not {*reading.wrong} <= {*sample}:
        raise UsageError(
            f"the {name} triples of this data are not those that were read ({digest})",
            hint="read them with --list",
        )
    wrong = len(reading.wrong)
    low, high = beta.ppf(0.025, wrong, READ - wrong + 1), beta.ppf(0.975, wrong + 1, READ - wrong)
    return (
        name,
        str(len(found)),
        str(READ),
        str(wrong),
        f"{100 * wrong / READ:.0f}% [{100 * low:.1f}, {100 * high:.1f}]",
    )


def main() -> None:
    """Print the samples with their readings, or the table of error rates."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="the data folder, with SICK")
    parser.add_argument("--list", action="store_true", help="print the triples that were read")
    parser.add_argument(
        "--write", action="store_true", help="write the table to benchmarks/results"
    )
    options = parser.parse_args()
    made = {name: reading.triples(options.data) for name, reading in READINGS.items()}
    if options.list:
        for name, found in made.items():
            for place, texts in drawn(found).items():
                print(name, place, *texts, READINGS[name].wrong.get(place, ""), sep="\t")
        return
    rows = [row(name, reading, made[name]) for name, reading in READINGS.items()]
    notes = [
        f"seed {SEED}; read once, by a language model and not by people; interval of the "
        f"share of wrong ones by Clopper and Pearson"
    ]
    for name, reading in READINGS.items():
        reasons = {
            reason: [place for place, own in reading.wrong.items() if own == reason]
            for reason in reading.wrong.values()
        }
        notes += [
            f"{name}, wrong: {reason}: {', '.join(map(str, places))}"
            for reason, places in reasons.items()
        ]
    columns = ("rule", "triples", "read", "wrong", "share wrong (95%)")
    if options.write:
        write_table(
            "contrast-rules",
            "Contrasts that rules make of SICK",
            columns,
            rows,
            packages=("embedlab", "polars"),
            notes=notes,
        )
    else:
        for cells in (columns, *rows):
            print(*cells, sep="\t")


if __name__ == "__main__":
    main()
