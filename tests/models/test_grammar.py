import re
import shutil
import subprocess
from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.models.grammar import (
    Combined,
    NameOptions,
    Single,
    options_text,
    parse_model,
    title_of,
    titles_of,
)


def shape(parsed: Single | Combined) -> str:
    if isinstance(parsed, Single):
        options = parsed.options
        more = [
            f"&{key}={value}"
            for key in ("prompt", "role", "dim")
            if (value := getattr(options, key)) is not None
        ]
        revision = f"#{options.revision}" if options.revision else ""
        return (
            parsed.name
            + (f"?{options.pooling}" if options.pooling else "")
            + "".join(more)
            + revision
        )
    return f"{parsed.kind}{parsed.depth or ''}[{' '.join(map(shape, parsed.parts))}]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sbert", "sbert"),
        ("sbert@3", "sbert@3"),
        ("org/model?pooling=mean-without-cls", "org/model?mean-without-cls"),
        ("org/model?pooling=cls?revision=refs/pr/1", "org/model?cls#refs/pr/1"),
        ("org/model?pooling=cls&revision=refs/pr/1", "org/model?cls#refs/pr/1"),
        ("org/model?pooling=cls+mean&dim=256&role=query", "org/model?cls+mean&role=query&dim=256"),
        ('org/model?prompt="Instruct: a, b? & c"', "org/model&prompt=Instruct: a, b? & c"),
        ('average:a?prompt="x, y",b', "average[a&prompt=x, y b]"),
        ("word-vectors:some/file.txt", "word-vectors:some/file.txt"),
        ("average:a,b", "average[a b]"),
        ("average(a,b)", "average[a b]"),
        ("average(a, b)", "average[a b]"),
        ("ensemble:a,b@2", "ensemble[a b@2]"),
        ("normalized-average:a,b?pooling=max,c", "normalized-average[a b?max c]"),
        ("concat:a@0,a@1", "concat[a@0 a@1]"),
        ("average:a,concat(b,c)", "average[a concat[b c]]"),
        ("average:concat(b,c),a", "average[concat[b c] a]"),
        ("average:a,concat:b,c", "average[a concat[b c]]"),
        ("average(a,concat:b,c)", "average[a concat[b c]]"),
        (
            "concat:average(a,normalized-average(b,c)),d",
            "concat[average[a normalized-average[b c]] d]",
        ),
        ("average(a, concat:b, c)", "average[a concat[b c]]"),
        ("concat: a , average( b , c )", "concat[a average[b c]]"),
        ("averages", "averages"),
        ("rerank:mpnet,bm25,100", "rerank100[mpnet bm25]"),
        ("rerank(average(a,b), rerank(c,d,9), 20)", "rerank20[average[a b] rerank9[c d]]"),
    ],
)
def test_the_grammar_reads(text: str, expected: str) -> None:
    assert shape(parse_model(text)) == expected


@pytest.mark.parametrize(
    "text",
    ["", "?pooling=mean", "average:", "average:a", "average:a,", "average(a,b", "average(a,b))", "average:a,b)", "average(a,b),c",
     "a?pooling", "a?pooling=", "a?pooling=median", "a?pool=mean", "a?dim=0", "a?dim=many",
     "average:a,?pooling=mean", "concat(average:a,b)"],
)  # fmt: skip
def test_what_the_grammar_does_not_allow_is_one_clear_error(text: str) -> None:
    with pytest.raises(UsageError):
        parse_model(text)


@pytest.mark.parametrize(
    "text", ["average:a", "average:a,", "average:a,,b", "average(a,)", "concat:", "average(a, ,b)"]
)
def test_a_combination_of_fewer_than_two_models_says_so(text: str) -> None:
    with pytest.raises(UsageError, match="takes two or more models"):
        parse_model(text)


def test_what_exists_on_disk_is_never_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("plain", "what?", "a?pooling=cls", "concat:a,b"):
        Path(name).mkdir()
    Path("words?.txt").touch()
    read = {
        "plain?pooling=max": ("plain", "max"),
        "what?": ("what?", None),
        "what??pooling=max": ("what?", "max"),
        "a?pooling=cls": ("a?pooling=cls", None),
        "a?pooling=cls?pooling=max": ("a?pooling=cls", "max"),
        "./a?pooling=cls": ("./a?pooling=cls", None),
        "b?pooling=cls": ("b", "cls"),
        "concat:a,b": ("concat:a,b", None),
        "word-vectors:words?.txt": ("word-vectors:words?.txt", None),
    }
    for text, (name, pooling) in read.items():
        assert parse_model(text) == Single(
            name=name, options=NameOptions(pooling=pooling), suffix=text[len(name) :]
        )
    assert shape(parse_model("average:what?,what??pooling=max")) == "average[what? what??max]"
    with pytest.raises(UsageError, match="no option"):
        parse_model("\0?" + "long" * 2_000)


OPTIONS = {
    "pooling=cls": NameOptions(pooling="cls"),
    'prompt="a, b"': NameOptions(prompt="a, b"),
    "role=query": NameOptions(role="query"),
    "dim=1": NameOptions(dim=1),
    "layer=0": NameOptions(layer=0),
    "layer=-12": NameOptions(layer=-12),
    "whiten=fit": NameOptions(whiten="fit"),
    "normalise": NameOptions(normalise=True),
    "adapter=./own": NameOptions(adapter="./own"),
    "code=native": NameOptions(code="native"),
    "revision=refs/pr/1": NameOptions(revision="refs/pr/1"),
}


@pytest.mark.parametrize("text", OPTIONS)
def test_each_option_is_read_as_what_it_is(text: str) -> None:
    assert parse_model(f"a?{text}") == Single(name="a", options=OPTIONS[text], suffix=f"?{text}")
    key = text.partition("=")[0]
    assert OPTIONS[text].typed == {key: getattr(OPTIONS[text], key)}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_option_reaches_the_program_as_typed_in_any_shell(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    words = [f"mini@{text}" for text in OPTIONS if '"' not in text]
    words += ["http://h:1/v1#m@dim=2", "run@3@pooling=cls+max@normalise", "hub:o/n@split=test"]
    words += ["a.csv@where=split:train@labels=0:entailment,1:neutral@drop=label:-1@held-out=0.1"]
    ended = subprocess.run(
        [shell, "-c", f"printf '%s\\n' {' '.join(words)}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert ended.stdout.splitlines() == words


def test_a_folder_whose_name_looks_like_an_option_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m@dim=4").mkdir()
    parsed = parse_model("./m@dim=4@bits=8")
    assert isinstance(parsed, Single)
    assert (parsed.name, parsed.options.typed) == ("./m@dim=4", {"bits": 8})


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("a?dim=0", "dim is '0', not a number of vector components", "@dim=256"),
        ("a?dim=-1", "dim is '-1'", "@dim=256"),
        ("a?layer=last", "layer is 'last', not the number of a layer", "@layer=-2"),
        ("a?layer=--1", "layer is '--1'", "@layer=-2"),
        ("a?layer=-", "layer is '-'", "@layer=-2"),
        ("a?code=remote", "no code named 'remote'", "native"),
        ("a?backend=onnx", "runs no ONNX or OpenVINO weights", "vectors:FILE"),
        ("a?dim=3&backend=openvino", "runs no ONNX or OpenVINO weights", "vectors:FILE"),
        ("average(a,b", "it should end with )", "average:a,b or average(a,b)"),
        ("average(a,b))", "the parentheses do not match", "average:a,b or average(a,b)"),
        ("concat:a,(b", "the parentheses do not match", "concat:a,b or concat(a,b)"),
        ("ensemble:a", "ensemble takes two or more models", "for example ensemble:"),
        ("?dim=3", "is not a model name", "a hub id"),
        (
            "rerank:a,b",
            "rerank takes the reranking model, the model that finds documents, and their number",
            "rerank:mpnet,bm25,100",
        ),
        ("rerank:a,b,c,3", "rerank takes the reranking model", "rerank:mpnet,bm25,100"),
        ("rerank:a,,3", "rerank takes the reranking model", "rerank:mpnet,bm25,100"),
        ("rerank:a,b,c", "not a number of documents: 'c'", "rerank:mpnet,bm25,100"),
        ("rerank:a,b,-1", "not a number of documents: '-1'", "rerank:mpnet,bm25,100"),
        ("rerank:a,b,1", "1 document cannot be reordered", "rerank:mpnet,bm25,100"),
        ("rerank(a,b,3", "it should end with )", "write rerank:a,b,100 or rerank(a,b,100)"),
    ],
)
def test_what_is_wrong_with_a_name_is_said_with_what_to_type(
    text: str, message: str, hint: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        parse_model(text)
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    "name", ["a?dim=8&dim=9", "a?pooling=cls?pooling=mean", "a?normalise&normalise"]
)
def test_an_option_given_twice_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is given twice"):
        parse_model(name)


def test_the_nearest_pooling_is_offered() -> None:
    with pytest.raises(UsageError) as caught:
        parse_model("a?pooling=mena")
    assert "mean" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("sbert", "sbert"),
        ("owner/model", "owner/model"),
        ("./models/mine/", "mine"),
        ("/models/mine", "mine"),
        ("~/mine", "mine"),
        ("word-vectors:~/vectors/glove.6B.300d.txt", "glove.6B.300d.txt"),
        ("vectors:results/minilm.npy", "minilm.npy"),
        ("scores:one.csv", "one.csv"),
        ("http://host/v1#owner/model", "owner/model"),
        ("https://host/v1#owner/model", "owner/model"),
        ("no-kind:./models/mine", "no-kind:./models/mine"),
        ("average:sbert,./models/mine", "average:sbert,mine"),
        ("average(sbert,concat(/models/mine,dice))", "average(sbert,concat(mine,dice))"),
    ],
)
def test_tables_call_a_model_by_the_last_part_of_its_path_and_any_other_in_full(
    name: str, title: str
) -> None:
    assert title_of(name) == title


def test_models_that_would_share_a_title_have_their_names_in_full() -> None:
    assert titles_of(["a/x", "./b/x", "./c/x", "./d/y"]) == {
        "a/x": "a/x",
        "./b/x": "./b/x",
        "./c/x": "./c/x",
        "./d/y": "y",
    }


def test_what_was_typed_behind_a_name_is_written_again_as_it_is_read() -> None:
    for typed in (
        "?pooling=cls",
        "?pooling=cls+mean&dim=256&normalise",
        '?prompt="a, b?"',
        "?layer=-2&whiten=fit&adapter=./own",
    ):
        parsed = parse_model(f"model{typed}")
        assert isinstance(parsed, Single)
        again = parse_model(f"model{options_text(parsed.options)}")
        assert isinstance(again, Single)
        assert again.options == parsed.options
        assert options_text(parsed.options) == typed
    assert options_text(NameOptions()) == ""
    assert NameOptions(dim=3, normalise=True).typed == {"dim": 3, "normalise": True}
