"""What is refused, in which words."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from embedlab.core.errors import EmbedlabError, UsageError


@contextmanager
def refused(said: str, hint: str, error: type[EmbedlabError] = UsageError) -> Iterator[None]:
    """Expect an ERROR with these parts of its message and of its hint."""
    with pytest.raises(error) as caught:
        yield
    assert said in caught.value.message
    assert hint in str(caught.value.hint)
