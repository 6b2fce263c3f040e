"""Inputs about runs and grids: what cannot learn, is stopped, copied, has no room or no name."""

from embedlab.cli.app import main
from tests.cases.runner import Case

_KILLED = """
embedlab grid run g.toml --data tiny --cluster slurm --threads 1 & submitter=$!
until squeue --me --noheader --format=%j | grep -q embedlab; do sleep 0.2; done
kill -9 $submitter
embedlab grid status g --data tiny; embedlab grid cancel g --data tiny || exit $?
for _ in $(seq 600); do squeue --me --noheader | grep -q . || break; sleep 0.2; done
squeue --me --noheader | grep . || embedlab grid status g --data tiny
"""


def train_r1() -> None:
    """Train the run r1."""
    words = "train snli-supcl --data tiny --max-steps 2 --name r1"
    assert main([*words.split(), "--set", "evaluate.tasks=[]", "--set", "evaluate.dev=none"]) == 0


CASES = (
    Case(
        name="batch-of-one",
        command="embedlab train pairs.csv --encoder minilm --set optim.batch_size=1 --name bs1",
        code=2,
        says=["optim.batch_size is 1", "compares a row with the others beside it"],
    ),
    Case(
        name="batch-of-one",
        command="embedlab train one.csv --encoder minilm --name bs1",
        code=2,
        says=["no batch holds two different values of 'positive' and of 'anchor'"],
    ),
    Case(
        name="one-class",
        command="embedlab train c15_oneclass.csv --encoder minilm --set evaluate.keep=best",
        code=2,
        says=["'label' is 'entailment' in all 50 rows"],
    ),
    Case(
        name="faq-duplicates",
        command="embedlab train faq10.csv --encoder minilm --dry-run",
        says=['repeats = "masked"'],
    ),
    Case(
        name="grid-long-name",
        command=f"embedlab grid run {'g' * 300} --set optim.lr=1e-5",
        code=2,
        says=["a grid's name of 300 characters is too long", "at most 150"],
    ),
    Case(
        name="grid-long-name",
        command=f"embedlab train snli-ce --encoder minilm --name {'r' * 300}",
        code=2,
        says=["a run's name of 300 characters is too long", "take at most 230"],
    ),
    Case(
        name="slurm-kill",
        command=_KILLED,
        says=["2 waiting", "requested the workers of g to stop"],
        needs="sinfo --noheader --responding | grep -q .",
        in_shell=True,
    ),
)
