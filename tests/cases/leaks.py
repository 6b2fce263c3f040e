"""Inputs that leak, hang or stay: links, devices, filters without an end."""

from tests.cases.runner import Case

PAIRS = (
    "printf 'sentence1,sentence2,score\\n' > p.csv; for i in $(seq 60); do "
    'echo "the cat $i sat,a dog $((i%7)) ran,$((i%6))" >> p.csv; done; '
)

CASES = (
    Case(
        name="html-devzero",
        command=f"{PAIRS} mkfifo f; embedlab compare dice wordllama p.csv --html f",
        code=2,
        says=["--html is 'f', which is not a page of embedlab"],
        in_shell=True,
    ),
    Case(
        name="html-devzero",
        command=f"{PAIRS} embedlab compare dice wordllama p.csv --html /dev/zero",
        code=2,
        says=["--html is '/dev/zero', which is not a page of embedlab"],
        in_shell=True,
    ),
    Case(
        name="html-devzero",
        command="mkfifo f; embedlab same wordllama --write-texts f; code=$?; "
        "test -p f && exit $code",
        code=2,
        says=["--write-texts is 'f', which is not a file of texts of embedlab"],
        in_shell=True,
    ),
    Case(
        name="html-devzero",
        command="mkfifo f.npy; echo a > t.txt; "
        "embedlab encode wordllama t.txt -o f.npy --force; code=$?; test -p f.npy && exit $code",
        code=3,
        says=["f.npy: a pipe, not a file"],
        in_shell=True,
    ),
    Case(
        name="where-huge",
        command='embedlab evaluate dice --data starter --task stsb --where "$(printf %0100000d 1)"',
        code=2,
        says=["a filter of 100,000 characters is too long"],
        in_shell=True,
    ),
    Case(
        name="symlinks",
        command="mkdir -p runs/r1/seed-1; echo mine > bashrc; "
        "ln -s $PWD/bashrc runs/r1/seed-1/log.txt; embedlab runs log r1; code=$?; "
        "grep -qx mine bashrc && exit $code",
        code=3,
        says=["log.txt' is a link, not a file of its own", "delete it: rm "],
        in_shell=True,
    ),
    Case(
        name="symlinks",
        command="mkdir -p runs/r1/seed-1; touch held; sleep 60 & victim=$!; "
        "exec 9> held; flock 9; ln -s $PWD/held runs/r1/seed-1/lock; "
        'echo "{\\"pid\\": $victim, \\"host\\": \\"$(hostname)\\"}" > runs/r1/seed-1/pid; '
        "embedlab runs cancel r1 --force; code=$?; kill $victim && exit $code",
        code=3,
        says=["lock' is a link, not a file of its own"],
        in_shell=True,
    ),
)
