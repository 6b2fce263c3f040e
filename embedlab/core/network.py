"""Whether the Hugging Face hub answers."""

from functools import cache
from urllib.error import HTTPError

OFFLINE = "embedlab is set to stay offline"  # by an option, a variable or a file
ONLINE = "remove --offline; where it was not typed, `embedlab config` shows where offline is set"


@cache
def is_reachable() -> bool:
    """Return whether the hub answers and may be used; cached, because its client retries for half a
    minute for each file.
    """
    # 10 ms, which no start of the dashboard should wait for
    from urllib.request import (
        Request,
        urlopen,
    )

    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return False
    try:
        with urlopen(Request(constants.ENDPOINT, method="HEAD"), timeout=5):
            pass
    except HTTPError:
        return True  # a refusal is also an answer
    except OSError:
        return False
    return True
