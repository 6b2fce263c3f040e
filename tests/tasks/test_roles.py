import json
from pathlib import Path
from typing import Any

from embedlab.models.catalog import ModelSpec
from embedlab.tasks._searchers import RoleEncoders


def test_a_router_reads_texts_of_a_role_on_the_route_of_that_name(tmp_path: Path) -> None:
    modules = [{"type": "sentence_transformers.models.Router", "path": ""}]
    (tmp_path / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    routes: dict[str, Any] = {"types": {}, "structure": {"query": [], "other": []}}
    (tmp_path / "router_config.json").write_text(json.dumps(routes), encoding="utf-8")
    spec = ModelSpec(name="m", kind="sentence-transformers", location=str(tmp_path))
    encoders = RoleEncoders(spec, lambda spec: spec)
    found = {role: encoders.of("t", "Retrieval", role).role for role in ("query", "document", None)}
    assert found == {"query": "query", "document": None, None: None}
    typed = RoleEncoders(ModelSpec(**{**vars(spec), "role": "other"}), lambda spec: spec)
    assert typed.of("t", "Retrieval", "query").role == "other"
