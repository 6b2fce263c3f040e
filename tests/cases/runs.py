"""Inputs about runs and grids: what cannot learn, is stopped, copied, has no room or no name."""

from tests.cases.runner import Case

# Each training is stopped three steps after it went on from the checkpoint of the one before.
_STOPPED = """
steps() { cat runs/r/seed-1/events.jsonl 2>/dev/null | grep -c '"event": "step"'; }
for name in USR1 USR2 XCPU; do
    before=$(steps)
    embedlab train big.csv --data tiny --name r --resume --set data.rows=64 \\
        --set evaluate.dev=none --set optim.batch_size=8 --set optim.epochs=2000 \\
        --set evaluate.log_every=1 &
    until [ $(steps) -gt $((before + 2)) ]; do kill -0 $! || exit 1; sleep 0.1; done
    kill -$name $!; wait $!; echo "$name gave $?"; ls runs/r/seed-1/checkpoints
done
"""
_SMALL_DISK = """
mkdir small; mount -t tmpfs -o size=SIZE tmpfs small; embedlab train big.csv --data tiny \
    --runs small/runs --set data.rows=64 --set evaluate.dev=none --max-steps 2
code=$?; ls small/runs/*/seed-1/model; exit $code
"""
_KILLED = """
embedlab grid run g.toml --data tiny --cluster slurm --threads 1 & submitter=$!
until squeue --me --noheader --format=%j | grep -q embedlab; do sleep 0.2; done
kill -9 $submitter
embedlab grid status g --data tiny; embedlab grid cancel g --data tiny || exit $?
for _ in $(seq 600); do squeue --me --noheader | grep -q . || break; sleep 0.2; done
squeue --me --noheader | grep . || embedlab grid status g --data tiny
"""


def _on_a_small_disk(size: str, code: int, *says: str) -> Case:
    """Return the row of a training on a disk of its own."""
    return Case(
        name="disk-full-late",
        command=f"unshare --mount --map-root-user bash -c '{_SMALL_DISK.replace('SIZE', size)}'",
        needs="unshare --mount --map-root-user true",
        code=code,
        says=says,
        never=["what was saved is intact"],
        in_shell=True,
    )


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
        says=["no batch holds two different values of 'positive'"],
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
    _on_a_small_disk("400k", 3, "no room for the model", "are free"),
    _on_a_small_disk(
        "1200k", 0, "room for the model", "no checkpoint after step 2", "model.safetensors"
    ),
    Case(
        name="seed-copy",
        command="embedlab train snli-supcl --data tiny --max-steps 2 --name r1 "
        "--set evaluate.tasks=[] --set evaluate.dev=none "
        "&& cp -r runs/r1/seed-1 runs/r1/seed-2 && embedlab evaluate r1 --data tiny --task stsb",
        says=["seed 2 is a copy of seed 1, and counts once"],
        never=["mean of 2 seeds"],
        in_shell=True,
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
        name="signals",
        command=_STOPPED,
        says=[
            text
            for name in ("USR1", "USR2", "XCPU")
            for text in (f"stopped by SIG{name} after step", f"{name} gave 130 step-")
        ],
        in_shell=True,
    ),
    Case(
        name="slurm-kill",
        command=_KILLED,
        says=["2 waiting", "requested the workers of g to stop"],
        needs="sinfo --noheader --responding | grep -q .",
        in_shell=True,
    ),
)
