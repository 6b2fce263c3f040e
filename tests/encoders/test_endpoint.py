"""Vectors of a server, against a real one in another process."""

import contextlib
import json
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from email.utils import formatdate
from pathlib import Path

import numpy as np
import pytest

from embedlab.cli.app import main
from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.encoders.device import Machine
from embedlab.encoders.encoder import Encoder
from embedlab.encoders.kinds.endpoint import _seconds
from embedlab.encoders.loading import load_encoder
from embedlab.models.aliases import take_alias
from embedlab.models.catalog import resolve
from tests.encoders.endpoint_server import vector
from tests.encoders.opening import offline_settings

LONG = "a text of more characters than the server takes"
TEXTS = ["a man plays", "", "two dogs", "a man plays"]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a server in a process of its own."""
    program = [sys.executable, str(Path(__file__).with_name("endpoint_server.py"))]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.kill()


@pytest.fixture
def server(address: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a server that has counted nothing, without waits between attempts."""
    monkeypatch.setattr("embedlab.encoders.kinds.endpoint._wait", lambda *_: 0.01)
    begin_anew(address, "good")
    return address


def begin_anew(server: str, model: str) -> None:
    """Let the server count from zero, and its model `swapped` behave as MODEL."""
    urllib.request.urlopen(urllib.request.Request(server, model.encode(), method="PUT")).close()


def load(name: str, cpu: Machine, cache: Path | None = None, *, offline: bool = False) -> Encoder:
    """The encoder of a typed name."""
    (spec,) = resolve(take_alias(name), Path("none")).members
    return load_encoder(spec, offline_settings(offline=offline), cache=cache)


def assert_refused(
    name: str, cpu: Machine, says: str, kind: type[EmbedlabError] = MissingError
) -> EmbedlabError:
    with pytest.raises(kind, match=says) as refused:
        load(name, cpu).encode(["a"])
    return refused.value


def vectors_of(texts: Sequence[str]) -> np.ndarray:
    return np.array([vector(text) for text in texts], np.float32)


def answered(server: str) -> dict[str, int]:
    """What the server counted."""
    with urllib.request.urlopen(server) as answer:
        found: dict[str, int] = json.loads(answer.read())
    return found


def test_each_text_is_requested_once_and_vectors_are_in_order(server: str, cpu: Machine) -> None:
    encoder = load(f"{server}#good", cpu)
    expected = vectors_of(["a man plays", " ", "two dogs", "a man plays"])
    np.testing.assert_allclose(encoder.encode(TEXTS), expected)
    assert answered(server) == {"requests": 1, "texts": 3, "refused": 0}
    assert "1 request, 5 tokens" in encoder.facts.notes
    for model in ("base64", "unnumbered"):
        assert (load(f"{server}#{model}", cpu).encode(TEXTS) == encoder.encode(TEXTS)).all()


def test_the_second_run_requests_nothing(server: str, cpu: Machine, tmp_path: Path) -> None:
    first = load(f"{server}#good", cpu, tmp_path).encode(TEXTS)
    before = answered(server)
    again = load(f"{server}#good", cpu, tmp_path, offline=True)
    assert (again.encode(TEXTS) == first).all()
    with pytest.raises(MissingError, match="no cached vectors of some sentences, and embedlab is"):
        again.encode(["something new"])
    assert answered(server) == before


REFUSALS = {
    "down": "did not answer after 6 attempts: status 503",
    "broken": "did not answer after 6 attempts: status 500",  # whatever the text, so it names none
    "key": "refuses the request: status 401",
    "unknown": "refuses the model 'unknown': status 404",
    "all": "refuses the model 'all': status 400",
    "busy": "status 200: .*model is busy",
    "moved": "redirects to http://localhost",
    "lost": "redirects to no address",
    "text": "text that is not JSON",
    "deep": "text that is not JSON, or nested too deep",
    "endless": "more than 1 MiB",
    "bomb": "more than 1 MiB",
    "shapes": "2 vectors for 3 texts",
    "order": "vectors whose indices are not 0 to 2, each once",
    "twice": "vectors whose indices are not 0 to 2, each once",
    "half": "vectors whose indices are not 0 to 2, each once",
    "infinite": "numbers that are not finite",
    "huge": "no vectors of numbers",
    "words": "no vectors of numbers",
    "ragged": "vectors of 6 and, for 'c', 2 numbers",
    "lengths": "gives vectors of 4 numbers, after others of 6",
}


@pytest.mark.parametrize("model", REFUSALS)
def test_a_server_that_fails_or_would_give_wrong_vectors_is_one_line(
    server: str, cpu: Machine, tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("embedlab.encoders.kinds.endpoint.ANSWER_BYTES", 2**20)
    cache = tmp_path if model == "lengths" else None  # which has been asked for others before
    with pytest.raises(EmbedlabError, match=REFUSALS[model]) as error:
        load(f"{server}#{model}", cpu, cache).encode(["a", "b", "c"])
    assert "\n" not in error.value.message + error.value.hint


REFUSING = "failing shaky nan null empty fewer moody dropping large picky"


def test_limits_errors_and_dropped_connections_are_tried_again(server: str, cpu: Machine) -> None:
    assert load(f"{server}#flaky", cpu).encode(["two dogs"]).shape == (1, 6)
    assert answered(server)["requests"] == 4


def test_a_server_that_has_answered_is_given_time_to_start_again(server: str, cpu: Machine) -> None:
    encoder = load(f"{server}#restarting", cpu)
    for text in TEXTS[:1], TEXTS[2:3]:
        np.testing.assert_allclose(encoder.encode(text), vectors_of(text))
    assert answered(server)["requests"] == 15


@pytest.mark.parametrize("model", REFUSING.split())
def test_what_a_server_refuses_together_is_halved_and_a_text_alone_is_named(
    server: str, cpu: Machine, tmp_path: Path, model: str
) -> None:
    others, bad = [f"text {number}" for number in range(39)], f"a bad one, {LONG}"
    with pytest.raises(EmbedlabError, match=r"refuses a text, even alone .*: 'a bad one"):
        load(f"{server}#{model}", cpu, tmp_path).encode([*others[:7], bad, *others[7:]])
    # what was computed beside it is cached, each with its text
    kept = load(f"{server}#{model}", cpu, tmp_path, offline=True).encode(others)
    np.testing.assert_allclose(kept, vectors_of(others))


def test_a_note_names_the_first_texts_without_a_vector(server: str, cpu: Machine) -> None:
    encoder = load(f"{server}#null", cpu)
    with pytest.raises(EmbedlabError, match="refuses 5 texts"):
        encoder.encode([f"bad {number} {LONG}" for number in range(5)] + ["good"])
    (note,) = encoder.facts.notes[1:]
    assert re.fullmatch(r"no vector of 'bad 0 .* characters: null .* and 2 more", note)


def test_an_address_with_parameters_and_a_header_of_ones_own(
    server: str, cpu: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"{server.removesuffix('/v1')}/deployments/d/embeddings?api-version=2024-02-01#azure"
    monkeypatch.setenv("EMBEDLAB_API_HEADERS", "api-key: s3cret")
    for options, length in {"": 6, "?dim=4": 4, "@dim=4": 4}.items():
        assert load(f"{address}{options}", cpu).encode(["a"]).shape == (1, length)
    monkeypatch.setenv("EMBEDLAB_API_HEADERS", "s3cret")
    error = assert_refused(address, cpu, "a line that is not a header", UsageError)
    assert "s3cret" not in error.message


def test_a_server_that_only_a_file_names_gets_neither_texts_nor_the_key(
    server: str, cpu: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDLAB_API_KEY", "s3cret")
    named = resolve(f"{server}#key", Path("none")).members[0]
    with pytest.raises(UsageError, match="which you did not type") as refused:
        load_encoder(named, offline_settings(offline=False))
    assert answered(server)["requests"] == 0
    host = server.removeprefix("http://").removesuffix("/v1")
    assert f"--allow-host {host} " in refused.value.hint
    monkeypatch.setenv("EMBEDLAB_ALLOW_HOST", host)
    with pytest.raises(MissingError, match="refuses the request: status 401"):  # without a key
        load_encoder(named, offline_settings(offline=False)).encode(["a"])
    # typed for another port, or to be encrypted: the key is not for this one
    take_alias("http://127.0.0.1:1/v1#m")
    take_alias(f"{server.replace('http', 'https')}#m")
    with pytest.raises(MissingError, match="refuses the request: status 401"):
        load_encoder(named, offline_settings(offline=False)).encode(["a"])
    take_alias(f"average:dice,{server}#key")
    assert load_encoder(named, offline_settings(offline=False)).encode(["a"]).shape == (1, 6)


def test_a_server_that_is_not_there_is_one_line(server: str, cpu: Machine) -> None:
    says = "did not answer after 6 attempts: ConnectError"
    assert_refused("http://127.0.0.1:9/v1#good", cpu, says)


def test_the_key_is_sent_and_in_no_file_and_no_message(
    server: str, cpu: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDLAB_API_KEY", " s3cret\n")
    encoder = load(f"{server}#key", cpu, tmp_path)
    assert encoder.encode(TEXTS).shape == (4, 6)
    unknown = assert_refused(f"{server}#unknown", cpu, "'unknown'", EmbedlabError)
    monkeypatch.setenv("EMBEDLAB_API_KEY", "s3cretß")
    not_a_key = assert_refused(f"{server}#key", cpu, "characters that no key has", UsageError)
    said = [f"{error.message} {error.hint}" for error in (unknown, not_a_key)]
    stored = [path.read_text("latin-1") for path in tmp_path.rglob("*") if path.is_file()]
    assert stored
    everything = [*said, *stored, str(encoder.facts), encoder.fingerprint]
    assert not any("s3cret" in text for text in everything)


def test_a_prompt_and_a_length_are_applied_and_part_of_the_fingerprint(
    server: str, cpu: Machine
) -> None:
    prompted = load(f'{server}#good?prompt="query: "&dim=4', cpu)
    expected = vectors_of(["query: two dogs"])[:, :4]
    np.testing.assert_allclose(prompted.encode(["two dogs"]), expected)
    assert load(f"{server}#good", cpu).fingerprint != prompted.fingerprint


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


@pytest.mark.parametrize("model", ["slow", "silent"])
def test_a_server_that_never_comes_to_an_end_is_left(
    server: str, cpu: Machine, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("embedlab.encoders.kinds.endpoint.REQUEST_S", 0.3)
    monkeypatch.setattr("embedlab.encoders.kinds.endpoint.ATTEMPTS", 2)
    says = r"did not answer after 2 attempts: no whole answer within 0.3 s"
    assert_refused(f"{server}#{model}", cpu, says)


def test_encode_goes_on_behind_a_refused_sentence_and_names_its_place(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("embedlab.encoders.partial_vectors.CHUNK", 3)
    monkeypatch.setenv("EMBEDLAB_CACHE", str(tmp_path / "cache"))
    texts = [f"text {number}" for number in range(10)]
    file, out = tmp_path / "sentences.txt", tmp_path / "out.npy"
    file.write_text("\n".join([*texts[:4], LONG, *texts[5:]]))
    words = ["encode", f"{server}#large", str(file), "-o", str(out)]
    assert main(words) == 1
    assert f"{file}, sentence 5: " in capsys.readouterr().err
    before = answered(server)
    file.write_text("\n".join(texts))
    assert main(words) == 0
    # and the three fixed sentences, of which one is first tried alone
    assert answered(server)["texts"] == before["texts"] + 1 + 4
    np.testing.assert_allclose(np.load(out), vectors_of(texts))


def scored(server: str, tmp_path: Path, model: str) -> float:
    """The score that `evaluate` prints of the server's model, which behaves as MODEL now."""
    begin_anew(server, model)
    pairs, out = tmp_path / "pairs.tsv", tmp_path / "answer.json"
    rows = [f"a b {n}\tb c {n * n}\t{n % 6}" for n in range(30)]
    pairs.write_text("\n".join(["sentence1\tsentence2\tscore", *rows]))
    with out.open("w") as file, contextlib.redirect_stdout(file):
        assert main(["evaluate", f"{server}#swapped", "--task", str(pairs), "--json"]) == 0
    score: float = json.loads(out.read_text())["rows"][0]["score"]
    return score


def test_another_model_behind_the_same_name_starts_anew_and_is_reported(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EMBEDLAB_CACHE", str(tmp_path / "cache"))
    scores, requested = [], []
    for model, says in (
        ("good", ""),
        ("drifted", ""),  # as little as another device changes: the same model
        ("other", "have a cosine of .*: embedlab takes it for a new model"),
        ("good", "takes it for the model that answered there at an earlier time"),
        ("longer", "have another length"),
    ):
        scores.append(scored(server, tmp_path, model))
        requested.append(answered(server)["texts"])
        found = re.search(r"its vectors of three fixed sentences (.*)", capsys.readouterr().err)
        assert re.search(says, found[1]) if found else not says
    assert scores[0] == scores[1] == scores[3] != scores[2]
    assert requested[1] == requested[3] == 3  # the fixed sentences alone


def test_a_server_states_its_wait_in_seconds_or_as_a_date() -> None:
    in_a_minute = _seconds(formatdate(time.time() + 60, usegmt=True))
    assert in_a_minute is not None
    assert 30 < in_a_minute <= 60
    assert [_seconds(stated) for stated in (formatdate(0), "7.5", "-1", "soon", None)] == [
        0,
        7.5,
        0,
        None,
        None,
    ]
