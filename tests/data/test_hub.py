"""Whether the hub can be reached is asked once, and a hub that cannot be is said at once."""

import pytest

from embedlab.data import hub
from embedlab.data.source import Source
from embedlab.errors import MissingError


def test_an_unreachable_hub_is_asked_once_and_names_every_dataset(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def refuse(request: object, timeout: float) -> None:
        asked.append("asked")
        raise OSError

    monkeypatch.setattr(hub, "urlopen", refuse)
    hub.is_reachable.cache_clear()
    for name in ("sts12", "sts13"):
        with pytest.raises(MissingError, match=f"{name}.*cannot be reached") as caught:
            Source().open(name)
        assert "--data DIR" in caught.value.hint
    hub.is_reachable.cache_clear()
    assert asked == ["asked"]
