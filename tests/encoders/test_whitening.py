"""Whitened and normalised vectors, compared with scikit-learn's PCA."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from embedlab.core.errors import MissingError, UsageError
from embedlab.encoders.device import Machine
from embedlab.encoders.encoder import Encoder, cosines
from embedlab.encoders.loading import load_encoder
from embedlab.encoders.transformed import fit_whitening
from embedlab.models.catalog import resolve


def encoder(name: str, cpu: Machine, cache: Path | None = None) -> Encoder:
    return load_encoder(resolve(name, Path("none")).members[0], cpu, cache=cache, offline=True)


@pytest.fixture(scope="module")
def raw(small_bert: Path, cpu: Machine, sentences: list[str]) -> NDArray[np.float32]:
    return encoder(str(small_bert), cpu).encode(sentences)


def whitened_by_sklearn(vectors: NDArray[np.float32], dim: int) -> NDArray[np.float64]:
    from sklearn.decomposition import PCA

    found: NDArray[np.float64] = (
        PCA(n_components=dim, whiten=True, svd_solver="full")
        .fit(vectors.astype(np.float64))
        .transform(vectors)
    )
    return found


@pytest.mark.parametrize(
    "dim", [31, 7]
)  # after its layer norm a random BERT has no variance in one direction
def test_whitening_is_that_of_scikit_learn(raw: NDArray[np.float32], dim: int) -> None:
    np.testing.assert_allclose(
        fit_whitening(raw, dim).apply(raw), whitened_by_sklearn(raw, dim), atol=2e-4
    )


def test_directions_without_variance_are_zero() -> None:
    drawn = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    vectors = fit_whitening(np.concatenate([drawn, drawn], axis=1)).apply(
        np.concatenate([drawn, drawn], axis=1)
    )
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(vectors[:, 3:], 0, atol=1e-6)


@pytest.mark.parametrize("is_cached", [False, True])
def test_fit_takes_the_different_sentences_of_a_call(
    small_bert: Path,
    cpu: Machine,
    sentences: list[str],
    raw: NDArray[np.float32],
    tmp_path: Path,
    is_cached: bool,
) -> None:
    model = encoder(f"{small_bert}?whiten=fit&dim=7", cpu, tmp_path if is_cached else None)
    expected = whitened_by_sklearn(raw, 7)
    np.testing.assert_allclose(
        model.encode([*sentences, *sentences[:9]])[: len(sentences)], expected, atol=2e-4
    )
    half = len(sentences) // 2
    similarity = model.score(sentences[:half], sentences[half:])
    np.testing.assert_allclose(
        similarity,
        cosines(expected[:half].astype(np.float32), expected[half:].astype(np.float32)),
        atol=2e-4,
    )
    assert model.dim == 7
    assert "whitened by the scored sentences, dim=7" in str(model.facts.pooling)


def test_a_file_of_sentences_or_of_vectors_whitens_alike(
    small_bert: Path, cpu: Machine, sentences: list[str], raw: NDArray[np.float32], tmp_path: Path
) -> None:
    (tmp_path / "lines.txt").write_text(
        "".join(f"{sentence}\n" for sentence in [*sentences, sentences[0]])
    )
    np.save(tmp_path / "raw.npy", raw)
    expected = whitened_by_sklearn(raw, 5)[:3]
    for name in ("lines.txt", "raw.npy"):
        model = encoder(f"{small_bert}?whiten={tmp_path / name}&dim=5", cpu)
        np.testing.assert_allclose(model.encode(sentences[:3]), expected, atol=2e-4)
        assert f"whitened by the 40 vectors of {name}" in model.facts.notes


def test_normalised_vectors_have_length_one_after_whitening(
    small_bert: Path, cpu: Machine, sentences: list[str]
) -> None:
    for option in ("?normalise", "?whiten=fit&dim=6&normalise", "?dim=6&normalise"):
        vectors = encoder(f"{small_bert}{option}", cpu).encode(sentences)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
        assert vectors.shape[1] == (6 if "dim" in option else 32)


def test_what_cannot_be_whitened_is_one_line(
    small_bert: Path, cpu: Machine, sentences: list[str], tmp_path: Path
) -> None:
    with pytest.raises(
        UsageError, match="2 different sentences are too few to whiten vectors of 32 numbers"
    ):
        encoder(f"{small_bert}?whiten=fit", cpu).score(["a dog"], ["a cat"])
    with pytest.raises(MissingError, match="no file for whitening"):
        encoder(f"{small_bert}?whiten=nothing.txt", cpu)
    np.save(tmp_path / "other.npy", np.ones((50, 3), np.float32))
    with pytest.raises(UsageError, match="vectors of 3 numbers"):
        encoder(f"{small_bert}?whiten={tmp_path}/other.npy", cpu).encode(sentences)
    with pytest.raises(UsageError, match="takes no option 'whiten'"):
        encoder("dice?whiten=fit", cpu)


def test_scores_after_a_fit_belong_to_their_dataset_and_say_that_they_saw_it(
    tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    from embedlab.cli.app import program

    def evaluated(*tasks: str) -> dict[str, float]:
        words = [
            "evaluate",
            f"{tiny_encoder}?whiten=fit&dim=8",
            *(word for task in tasks for word in ("--task", task)),
        ]
        answer = CliRunner().invoke(
            program(), [*words, "--data", "tiny", "--threads", "1", "--json"]
        )
        assert answer.exit_code == 0, answer.stderr
        text = answer.stdout
        assert "whitened by the scored sentences" in text
        return {
            row["slice"]: row["score"]
            for row in json.loads(text)["rows"]
            if row["setting"] == "all"
        }

    alone = {**evaluated("sts12"), **evaluated("sts-benchmark")}
    assert evaluated("sts12", "sts-benchmark") == alone
