import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from embedlab.models.catalog import ModelSpec
from embedlab.tasks._searchers import RoleEncoders


def test_a_router_reads_texts_of_a_role_on_its_route_with_its_prompt(tmp_path: Path) -> None:
    modules = [{"type": "sentence_transformers.models.Router", "path": ""}]
    routes: dict[str, Any] = {"types": {}, "structure": {"query": [], "other": []}}
    files = {"modules": modules, "router_config": routes}
    files["config_sentence_transformers"] = {"prompts": {"query": "q: ", "document": "d: "}}
    for name, content in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    spec = ModelSpec(name="m", kind="sentence-transformers", location=str(tmp_path))
    for own, wanted, read in (
        (None, "query", "query"),
        (None, "document", None),
        (None, None, None),
        ("other", "query", "other"),
    ):
        encoders = RoleEncoders(replace(spec, role=own), lambda spec: spec)
        encoder = encoders.of("t", "Retrieval", wanted)
        assert (encoder.role, encoder.prompt) == (read, wanted if own is None else None)
