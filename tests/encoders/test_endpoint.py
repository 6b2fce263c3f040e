"""Vectors of a server, against a real one in another process."""

import contextlib
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from embedlab.cli.app import main
from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.encoders.device import Machine
from embedlab.encoders.encoder import Encoder
from embedlab.encoders.loading import load_encoder
from embedlab.models.aliases import take_alias
from embedlab.models.catalog import resolve
from embedlab.models.grammar import title_of
from tests.encoders.endpoint_server import vector

LONG = "a text of more characters than the server takes"
TEXTS = ["a man plays", "", "two dogs", "a man plays"]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """The address of a fresh server, without waits between attempts."""
    monkeypatch.setattr("embedlab.encoders.kinds.endpoint._wait", lambda _: 0.01)
    monkeypatch.delenv("EMBEDLAB_API_KEY", raising=False)
    program = [
        sys.executable,
        str(Path(__file__).with_name("endpoint_server.py")),
        str(tmp_path / "model.txt"),
    ]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.kill()


def load(name: str, cpu: Machine, cache: Path | None = None, *, offline: bool = False) -> Encoder:
    """The encoder of a typed name."""
    return load_encoder(
        resolve(take_alias(name), Path("none")).members[0], cpu, cache=cache, offline=offline
    )


def answered(server: str) -> dict[str, int]:
    """What the server counted."""
    with urllib.request.urlopen(server) as answer:
        found: dict[str, int] = json.loads(answer.read())
    return found


def test_each_text_is_requested_once_and_vectors_are_in_order(server: str, cpu: Machine) -> None:
    encoder = load(f"{server}#good", cpu)
    expected = [vector("a man plays"), vector(" "), vector("two dogs"), vector("a man plays")]
    np.testing.assert_allclose(encoder.encode(TEXTS), np.array(expected, np.float32))
    assert answered(server) == {"requests": 1, "texts": 3, "refused": 0}
    assert "1 request, 5 tokens" in encoder.facts.notes


def test_the_second_run_requests_nothing(server: str, cpu: Machine, tmp_path: Path) -> None:
    first = load(f"{server}#good", cpu, tmp_path).encode(TEXTS)
    before = answered(server)
    again = load(f"{server}#good", cpu, tmp_path, offline=True)
    assert (again.encode(TEXTS) == first).all()
    assert answered(server) == before
    with pytest.raises(
        MissingError,
        match="no cached vectors of some sentences, and embedlab is set to stay offline",
    ):
        again.encode(["something new"])


def test_limits_errors_and_dropped_connections_are_tried_again(server: str, cpu: Machine) -> None:
    assert load(f"{server}#flaky", cpu).encode(["two dogs"]).shape == (1, 6)
    assert answered(server)["requests"] == 4


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("down", "did not answer after 6 attempts: status 503"),
        ("key", "refuses the request: status 401"),
        ("unknown", "refuses the model 'unknown': status 404"),
        ("text", "an answer that is not JSON"),
        ("shapes", "1 vectors for 2 texts"),
        ("infinite", "numbers that are not finite"),
        ("lost", "redirects to no address"),
        ("huge", "no vectors of numbers"),
        ("words", "no vectors of numbers"),
        ("deep", "an answer that is not JSON, or nested too deep"),
        ("endless", "more than 1 MiB"),
        ("bomb", "more than 1 MiB"),
        ("all", "refuses the model 'all': status 400"),
    ],
)
def test_a_server_that_fails_is_one_line(
    server: str, cpu: Machine, model: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("embedlab.encoders.kinds.endpoint.ANSWER_BYTES", 2**20)
    with pytest.raises(EmbedlabError, match=words) as error:
        load(f"{server}#{model}", cpu).encode(["a", "b"])
    assert "\n" not in error.value.message + error.value.hint


def test_answers_that_would_give_wrong_vectors_are_refused(
    server: str, cpu: Machine, tmp_path: Path
) -> None:
    for model, words in {
        "order": "vectors whose indices are not 0 to 2, each once",
        "twice": "vectors whose indices are not 0 to 2, each once",
        "indices": "vectors whose indices are not 0 to 2, each once",
        "same": "vectors whose indices are not 0 to 2, each once",
        "half": "vectors whose indices are not 0 to 2, each once",
        "busy": "status 200: .*model is busy",
        "moved": "redirects to http://localhost",
        "lengths": "gives vectors of 4 numbers, after others of 6",
    }.items():
        encoder = (
            load(f"{server}#{model}", cpu, tmp_path)
            if model == "lengths"
            else load(f"{server}#{model}", cpu)
        )
        with pytest.raises(EmbedlabError, match=words) as error:
            encoder.encode(["a", "b", "c"])
        assert "\n" not in error.value.message + error.value.hint
    assert (
        load(f"{server}#unnumbered", cpu).encode(["a", "b"]).tolist()
        == load(f"{server}#good", cpu).encode(["a", "b"]).tolist()
    )


@pytest.mark.parametrize("model", ["failing", "unavailable", "nan", "null"])
def test_a_text_that_a_server_fails_on_is_named_and_the_others_keep_their_vectors(
    server: str, cpu: Machine, tmp_path: Path, model: str
) -> None:
    texts = [f"text {number}" for number in range(40)]
    texts[7] = "a bad one"
    with pytest.raises(EmbedlabError, match=r"refuses a text, even alone .*: 'a bad one'"):
        load(f"{server}#{model}", cpu, tmp_path).encode(texts)
    others = [text for text in texts if "bad" not in text]
    kept = load(f"{server}#{model}", cpu, tmp_path, offline=True).encode(others)
    np.testing.assert_allclose(kept, np.array([vector(text) for text in others], np.float32))


def test_a_server_that_fails_on_every_text_blames_none(server: str, cpu: Machine) -> None:
    with pytest.raises(MissingError, match="did not answer after 6 attempts: status 500"):
        load(f"{server}#broken", cpu).encode(["a", "b"])


def test_an_address_with_parameters_and_a_header_of_ones_own(
    server: str, cpu: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"{server.removesuffix('/v1')}/deployments/d/embeddings?api-version=2024-02-01"
    monkeypatch.setenv("EMBEDLAB_API_HEADERS", "api-key: s3cret")
    assert load(f"{address}#azure", cpu).encode(["a"]).shape == (1, 6)
    assert load(f"{address}#azure?dim=4", cpu).encode(["a"]).shape == (1, 4)
    assert load(f"{address}#azure@dim=4", cpu).encode(["a"]).shape == (1, 4)
    monkeypatch.setenv("EMBEDLAB_API_HEADERS", "s3cret")
    with pytest.raises(UsageError, match="a line that is not a header") as error:
        load(f"{address}#azure", cpu).encode(["a"])
    assert "s3cret" not in error.value.message


def test_vectors_in_base64_are_read(server: str, cpu: Machine) -> None:
    expected = load(f"{server}#good", cpu).encode(["a", "b"])
    assert (load(f"{server}#base64", cpu).encode(["a", "b"]) == expected).all()


def test_a_server_that_only_a_file_names_gets_neither_texts_nor_the_key(
    server: str, cpu: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDLAB_API_KEY", "s3cret")
    monkeypatch.delenv("EMBEDLAB_TYPED_HOSTS", raising=False)
    named = resolve(f"{server}#key", Path("none")).members[0]
    with pytest.raises(UsageError, match="which you did not type") as refused:
        load_encoder(named, cpu)
    assert answered(server)["requests"] == 0
    host = server.removeprefix("http://").removesuffix("/v1")
    assert f"--allow-host {host} " in refused.value.hint
    monkeypatch.setenv("EMBEDLAB_ALLOW_HOST", host)
    with pytest.raises(MissingError, match="refuses the request: status 401"):  # without a key
        load_encoder(named, cpu).encode(["a"])
    # typed for another port, or to be encrypted: the key is not for this one
    take_alias("http://127.0.0.1:1/v1#m")
    take_alias(f"{server.replace('http', 'https')}#m")
    with pytest.raises(MissingError, match="refuses the request: status 401"):
        load_encoder(named, cpu).encode(["a"])
    take_alias(f"average:dice,{server}#key")
    assert load_encoder(named, cpu).encode(["a"]).shape == (1, 6)


def test_a_key_that_no_header_carries_is_refused_without_showing_it(
    server: str, cpu: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDLAB_API_KEY", " s3cret\n")
    assert load(f"{server}#key", cpu).encode(["a"]).shape == (1, 6)
    monkeypatch.setenv("EMBEDLAB_API_KEY", "s3crét")
    with pytest.raises(UsageError, match="characters that no key has") as error:
        load(f"{server}#key", cpu).encode(["a"])
    assert "s3cr" not in error.value.message + error.value.hint


def test_a_server_that_is_not_there_is_one_line(server: str, cpu: Machine) -> None:
    with pytest.raises(MissingError, match="did not answer after 6 attempts: ConnectError"):
        load("http://127.0.0.1:9/v1#good", cpu).encode(["a"])


def test_the_key_is_sent_and_in_no_file_and_no_message(
    server: str, cpu: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDLAB_API_KEY", "s3cret")
    encoder = load(f"{server}#key", cpu, tmp_path)
    assert encoder.encode(TEXTS).shape == (4, 6)
    with pytest.raises(EmbedlabError) as error:
        load(f"{server}#unknown", cpu).encode(["a"])
    said = [error.value.message, error.value.hint, str(encoder.facts), encoder.fingerprint]
    stored = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert stored
    assert not any("s3cret" in text for text in said)
    assert not any(b"s3cret" in content for content in stored)


def test_a_prompt_and_a_length_are_applied_and_part_of_the_fingerprint(
    server: str, cpu: Machine
) -> None:
    plain, prompted = (
        load(f"{server}#good", cpu),
        load(f'{server}#good?prompt="query: "&dim=4', cpu),
    )
    np.testing.assert_allclose(
        prompted.encode(["two dogs"])[0], np.array(vector("query: two dogs")[:4], np.float32)
    )
    assert plain.fingerprint != prompted.fingerprint
    assert prompted.dim == 4


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("http://localhost/v1", "is not a model of an endpoint"),
        ("https://#model", "is not a model of an endpoint"),
        ("https://me:word@host/v1#model", "holds a password"),
        ("http://host/v1#model?pooling=mean", "takes no option 'pooling'"),
    ],
)
def test_an_address_that_does_not_fit_is_refused(name: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        resolve(name, Path("none"))


def test_tables_call_it_by_its_model() -> None:
    assert title_of("https://host/v1#BAAI/bge-small") == "BAAI/bge-small"


@pytest.mark.parametrize("model", ["slow", "silent"])
def test_a_server_that_never_comes_to_an_end_is_left(
    server: str, cpu: Machine, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("embedlab.encoders.kinds.endpoint.REQUEST_S", 0.3)
    monkeypatch.setattr("embedlab.encoders.kinds.endpoint.ATTEMPTS", 2)
    with pytest.raises(
        MissingError, match=r"did not answer after 2 attempts: no whole answer within 0.3 s"
    ):
        load(f"{server}#{model}", cpu).encode(["a"])


@pytest.mark.parametrize("model", ["large", "picky"])
def test_what_is_refused_together_is_halved_and_a_text_alone_is_named(
    server: str, cpu: Machine, tmp_path: Path, model: str
) -> None:
    short, long = [f"text {number}" for number in range(9)], [LONG, f"another, {LONG}"]
    encoder = load(f"{server}#{model}", cpu, tmp_path)
    assert len(encoder.encode(short)) == 9
    texts = [*short[:4], long[0], "new", *short[4:], long[1], "newer"]
    with pytest.raises(EmbedlabError, match="refuses 2 texts, even alone") as error:
        encoder.encode(texts)
    assert all(f"{text[:45]}" in error.value.message for text in long)
    assert "\n" not in error.value.message + error.value.hint
    before = answered(server)
    again = load(
        f"{server}#{model}", cpu, tmp_path, offline=True
    )  # what was computed beside them is cached, each with its text
    expected = [vector(text) for text in texts if text not in long]
    np.testing.assert_allclose(
        again.encode([text for text in texts if text not in long]), np.array(expected, np.float32)
    )
    assert answered(server) == before


def test_encode_goes_on_behind_a_refused_sentence_and_names_its_place(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("embedlab.encoders.partial_vectors.CHUNK", 3)
    monkeypatch.setenv("EMBEDLAB_CACHE", str(tmp_path / "cache"))
    texts = [f"text {number}" for number in range(10)]
    texts[4] = LONG
    file = tmp_path / "sentences.txt"
    file.write_text("\n".join(texts))
    words = ["encode", f"{server}#large", str(file), "-o", str(tmp_path / "out.npy")]
    assert main(words) == 1
    said = capsys.readouterr().err
    assert f"{file}, sentence 5: " in said
    before = answered(server)
    file.write_text("\n".join(texts).replace(texts[4], "short"))
    assert main(words) == 0
    assert answered(server)["texts"] == before["texts"] + 1 + 3  # and the three fixed sentences
    np.testing.assert_allclose(
        np.load(tmp_path / "out.npy")[4], np.array(vector("short"), np.float32)
    )


def scored(server: str, tmp_path: Path, model: str, *words: str) -> float:
    """The score that `evaluate` prints of the server's model, which behaves as MODEL now."""
    (tmp_path / "model.txt").write_text(model)
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text(
        "sentence1\tsentence2\tscore\n"
        + "".join(f"a b {n}\tb c {n * n}\t{n % 6}\n" for n in range(30))
    )
    out = tmp_path / "answer.json"
    with out.open("w") as file, contextlib.redirect_stdout(file):
        assert main(["evaluate", f"{server}#swapped", "--task", str(pairs), "--json", *words]) == 0
    score: float = json.loads(out.read_text())["rows"][0]["score"]
    return score


def test_another_model_behind_the_same_name_starts_anew_and_is_reported(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EMBEDLAB_CACHE", str(tmp_path / "cache"))
    first = scored(server, tmp_path, "good")
    assert "fixed sentences" not in capsys.readouterr().err
    before = answered(server)["texts"]
    assert (
        scored(server, tmp_path, "drifted") == first
    )  # as little as another device changes: the same model
    assert answered(server)["texts"] == before + 3
    second = scored(server, tmp_path, "other")
    assert second != first
    said = capsys.readouterr().err
    assert "its vectors of three fixed sentences have a cosine of" in said
    assert (
        "embedlab takes it for a new model, and its earlier vectors and results are not used"
        in said
    )
    assert scored(server, tmp_path, "other", "--offline") == second
    before = answered(server)["texts"]
    assert scored(server, tmp_path, "good") == first  # which comes back
    assert "the model that answered there at an earlier time" in capsys.readouterr().err
    assert answered(server)["texts"] == before + 3
    scored(server, tmp_path, "longer")
    assert "three fixed sentences have another length" in capsys.readouterr().err
