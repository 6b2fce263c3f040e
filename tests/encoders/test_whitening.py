"""Whitened and normalised vectors, compared with scikit-learn's PCA."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from embedlab.cli.app import main
from embedlab.core.errors import EmbedlabError
from embedlab.encoders.device import Machine
from embedlab.encoders.encoder import cosines
from embedlab.encoders.transformed import fit_whitening
from tests.encoders.opening import assert_refused, opened


@pytest.fixture(scope="module")
def raw(small_bert: Path, cpu: Machine, sentences: list[str]) -> NDArray[np.float32]:
    return opened(small_bert, cpu).encode(sentences)


def whitened_by_sklearn(vectors: NDArray[np.float32], dim: int) -> NDArray[np.float32]:
    whitening = PCA(n_components=dim, whiten=True, svd_solver="full")
    return np.float32(whitening.fit_transform(vectors.astype(np.float64)))


@pytest.mark.parametrize(
    "dim", [31, 7]
)  # after its layer norm a random BERT has no variance in one direction
def test_whitening_is_that_of_scikit_learn(raw: NDArray[np.float32], dim: int) -> None:
    np.testing.assert_allclose(
        fit_whitening(raw, dim).apply(raw), whitened_by_sklearn(raw, dim), atol=2e-4
    )


def test_whitening_takes_the_different_sentences_of_a_call_of_a_file_or_of_vectors(
    small_bert: Path, cpu: Machine, sentences: list[str], raw: NDArray[np.float32], tmp_path: Path
) -> None:
    (tmp_path / "lines.txt").write_text("\n".join([*sentences, sentences[0], ""]))
    np.save(tmp_path / "raw.npy", raw)
    expected, half = whitened_by_sklearn(raw, 7), len(sentences) // 2
    cosine = cosines(expected[:half], expected[half:])
    for given, cache, note in (
        ("fit", None, ""),
        ("fit", tmp_path, ""),
        (tmp_path / "lines.txt", None, "whitened by the 40 vectors of lines.txt"),
        (tmp_path / "raw.npy", None, "whitened by the 40 vectors of raw.npy"),
    ):
        model = opened(f"{small_bert}?whiten={given}&dim=7", cpu, cache)
        found = model.encode([*sentences, *sentences[:9]])[: len(sentences)]
        np.testing.assert_allclose(found, expected, atol=2e-4)
        similarity = model.score(sentences[:half], sentences[half:])
        np.testing.assert_allclose(similarity, cosine, atol=2e-4)
        assert model.dim == 7
        assert note in (*model.facts.notes, "")
        assert ("by the scored sentences" in str(model.facts.pooling)) is (given == "fit")


def test_normalised_vectors_have_length_one_after_whitening(
    small_bert: Path, cpu: Machine, sentences: list[str]
) -> None:
    for option in ("normalise", "whiten=fit&dim=6&normalise", "dim=6&normalise"):
        vectors = opened(f"{small_bert}?{option}", cpu).encode(sentences)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
        assert vectors.shape[1] == (6 if "dim" in option else 32)


def test_what_cannot_be_whitened_is_one_line(
    small_bert: Path, cpu: Machine, sentences: list[str], tmp_path: Path
) -> None:
    np.save(tmp_path / "other.npy", np.ones((50, 3), np.float32))
    refused = {
        f"{small_bert}?whiten=fit": "2 different sentences are too few to whiten vectors of 32",
        f"{small_bert}?whiten=nothing.txt": "no file for whitening",
        f"{small_bert}?whiten={tmp_path}/other.npy": "vectors of 3 numbers",
        "dice?whiten=fit": "takes no option 'whiten'",
    }
    for name, says in refused.items():
        assert_refused(name, cpu, says, kind=EmbedlabError)


@pytest.mark.usefixtures("small_world")
def test_scores_after_a_fit_belong_to_their_dataset_and_say_that_they_saw_it(
    tiny_encoder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def evaluated(*tasks: str) -> dict[str, float]:
        words = ["evaluate", f"{tiny_encoder}?whiten=fit&dim=8", "--data", "tiny", "--json"]
        for task in tasks:
            words += ["--task", task]
        assert main([*words, "--threads", "1"]) == 0
        text = capsys.readouterr().out
        assert "whitened by the scored sentences" in text
        rows = json.loads(text)["rows"]
        return {row["slice"]: row["score"] for row in rows if row["setting"] == "all"}

    alone = {**evaluated("sts12"), **evaluated("sts-benchmark")}
    assert evaluated("sts12", "sts-benchmark") == alone
