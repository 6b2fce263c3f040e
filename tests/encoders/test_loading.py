from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.core.settings import Settings
from embedlab.encoders.device import Machine
from embedlab.encoders.loading import load_trainable, scorer_for
from embedlab.models.catalog import resolve


def test_notes_of_a_name_reach_the_facts(small_bert: Path, cpu: Machine, tmp_path: Path) -> None:
    (tmp_path / "sbert" / "seed-4").mkdir(parents=True)
    (tmp_path / "sbert" / "seed-4" / "model").symlink_to(small_bert)
    scorer = scorer_for(resolve("sbert", tmp_path).members[0], Settings(device="cpu", threads=1))
    assert scorer.name == "sbert@4"
    assert any("not the published checkpoint of that name" in note for note in scorer.facts.notes)


def test_only_transformers_can_be_trained(cpu: Machine, small_bert: Path, tmp_path: Path) -> None:
    assert load_trainable(resolve(str(small_bert), tmp_path).members[0], cpu).dim == 32
    with pytest.raises(UsageError, match="not a transformer"):
        load_trainable(resolve("dice", tmp_path).members[0], cpu)
