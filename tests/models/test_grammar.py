import re
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
    """The parts of a name in brackets, with what was typed behind each."""
    if isinstance(parsed, Combined):
        return f"{parsed.kind}{parsed.depth or ''}[{' '.join(map(shape, parsed.parts))}]"
    options = {"pooling": "?", "prompt": "&prompt=", "role": "&role=", "dim": "&dim=",
               "revision": "#"}  # fmt: skip
    values = {mark: getattr(parsed.options, key) for key, mark in options.items()}
    return parsed.name + "".join(f"{mark}{value}" for mark, value in values.items() if value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sbert@3", "sbert@3"),
        ("org/model?pooling=cls?revision=refs/pr/1", "org/model?cls#refs/pr/1"),
        ("org/model?pooling=cls+mean&dim=256&role=query", "org/model?cls+mean&role=query&dim=256"),
        ('org/model?prompt="Instruct: a, b? & c"', "org/model&prompt=Instruct: a, b? & c"),
        ('average:a?prompt="x, y",b', "average[a&prompt=x, y b]"),
        ("word-vectors:some/file.txt", "word-vectors:some/file.txt"),
        ("average(a, b)", "average[a b]"),
        ("ensemble:a,b@2", "ensemble[a b@2]"),
        ("normalized-average:a,b?pooling=max,c", "normalized-average[a b?max c]"),
        ("average:concat(b,c),a", "average[concat[b c] a]"),
        ("average:a,concat:b,c", "average[a concat[b c]]"),
        ("average(a,concat:b,c)", "average[a concat[b c]]"),
        (
            "concat:average(a,normalized-average(b,c)),d",
            "concat[average[a normalized-average[b c]] d]",
        ),
        ("concat: a , average( b , c )", "concat[a average[b c]]"),
        ("averages", "averages"),
        ("rerank:mpnet,bm25,100", "rerank100[mpnet bm25]"),
        ("rerank(average(a,b), rerank(c,d,9), 20)", "rerank20[average[a b] rerank9[c d]]"),
    ],
)
def test_the_grammar_reads(text: str, expected: str) -> None:
    assert shape(parse_model(text)) == expected


@pytest.mark.parametrize(
    ("text", "name", "pooling"),
    [
        ("plain?pooling=max", "plain", "max"),
        ("what?", "what?", None),
        ("what??pooling=max", "what?", "max"),
        ("a?pooling=cls", "a?pooling=cls", None),
        ("a?pooling=cls?pooling=max", "a?pooling=cls", "max"),
        ("./a?pooling=cls", "./a?pooling=cls", None),
        ("b?pooling=cls", "b", "cls"),
        ("concat:a,b", "concat:a,b", None),
        ("word-vectors:words?.txt", "word-vectors:words?.txt", None),
        ("./m@dim=4@pooling=cls", "./m@dim=4", "cls"),
        ("m@home", "m@home", None),
    ],
)
def test_what_exists_on_disk_is_never_split(
    text: str, name: str, pooling: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in (
        "plain",
        "what?",
        "a?pooling=cls",
        "concat:a,b",
        "words?.txt",
        "m@dim=4",
        "m@home",
    ):
        Path(folder).mkdir()
    options = NameOptions(pooling=pooling)
    assert parse_model(text) == Single(name=name, options=options, suffix=text[len(name) :])
    assert shape(parse_model("average:what?,what??pooling=max")) == "average[what? what??max]"


def test_a_name_that_no_file_has_is_read_nevertheless() -> None:
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
    assert options_text(OPTIONS[text]) == f"?{text}"  # written again as it is read


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("a?dim=-1", "dim is '-1', not a number of vector components", "@dim=256"),
        ("a?dim=0", "dim is '0'", "@dim=256"),
        ("a?dim=8&dim=9", "is given twice", ""),
        ("a?pooling=cls?pooling=mean", "is given twice", ""),
        ("a?pooling=mena", "no pooling named 'mena'", "mean"),
        ("a?layer=last", "layer is 'last', not the number of a layer", "@layer=-2"),
        ("a?layer=--1", "layer is '--1'", "@layer=-2"),
        ("a?code=remote", "no code named 'remote'", "native"),
        ("a@foo=1", "no option 'foo=1'", "write a; options: @pooling="),
        ("org/a@foo@dim=3", "no option 'foo'", "write org/a; options: @pooling="),
        ("a@pooling=", "no option 'pooling=' without a value", "write a; options: @pooling="),
        ("average(a,b", "the parentheses do not match", "average:a,b or average(a,b)"),
        ("average(a,b))", "the parentheses do not match", "average:a,b or average(a,b)"),
        ("concat:a,(b", "the parentheses do not match", "concat:a,b or concat(a,b)"),
        ("ensemble:a", "ensemble takes two or more models", "for example ensemble:"),
        ("average:a,,b", "takes two or more models", "for example average:"),
        ("concat:", "takes two or more models", "for example concat:"),
        ("average(a, ,b)", "takes two or more models", "for example average:"),
        ("?dim=3", "is not a model name", "a hub id"),
        ("", "is not a model name", "a hub id"),
        ("average:a,?pooling=mean", "'?pooling=mean' is not a model name", "a hub id"),
        ("average(a,b),c", "the parentheses do not match", "average:a,b or average(a,b)"),
        ("a?pooling", "no option 'pooling' without a value", "write a; options: @pooling="),
        ("concat(average:a,b)", "concat takes two or more models", "for example concat:"),
        (
            "rerank:a,b",
            "rerank takes the reranking model, the model that finds documents, and how many",
            "rerank:mpnet,bm25,100",
        ),
        ("rerank:a,b,c,3", "rerank takes the reranking model", "rerank:mpnet,bm25,100"),
        ("rerank:a,,3", "rerank takes the reranking model", "rerank:mpnet,bm25,100"),
        ("rerank:a,b,-1", "rerank takes the reranking model", "rerank:mpnet,bm25,100"),
        ("rerank:a,b,1", "rerank takes the reranking model", "rerank:mpnet,bm25,100"),
        ("rerank(a,b,3", "the parentheses do not match", "write rerank:a,b,100 or rerank(a,b,100)"),
    ],
)
def test_what_is_wrong_with_a_name_is_said_with_what_to_type(
    text: str, message: str, hint: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        parse_model(text)
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("owner/model", "owner/model"),
        ("./models/mine/", "mine"),
        ("~/mine", "mine"),
        ("word-vectors:~/vectors/glove.6B.300d.txt", "glove.6B.300d.txt"),
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
    titles = titles_of(["a/x", "./b/x", "./c/x", "./d/y"])
    assert [*titles.values()] == ["a/x", "./b/x", "./c/x", "y"]


def test_what_was_typed_behind_a_name_is_written_again_as_it_is_read() -> None:
    typed = "?pooling=cls+mean&dim=256&layer=-2&whiten=fit&normalise&adapter=./own"
    parsed = parse_model(f"model{typed}")
    assert isinstance(parsed, Single)
    assert options_text(parsed.options) == typed
    assert options_text(NameOptions()) == ""
