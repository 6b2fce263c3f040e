"""The bytes of a text by which what is computed of it is stored."""

APART = b"\xff"  # between texts: no UTF-8 text contains it
# Earlier versions gave what follows a separator in a text another type, and counted a padding token
# in it as a position.
_MISREAD = ("[SEP]", "</s>", "<sep>", "[PAD]", "<pad>")
MISREAD_SIGNS = ("\x1f", "[", "<")  # a text without them was read as it is


def text_bytes(text: str) -> bytes:
    """Return bytes that are different for different texts; what earlier versions stored of a text
    they misread has other ones.
    """
    content = text.encode("utf-8", "surrogatepass")
    return APART + content if _was_misread(text) else content


def _was_misread(text: str) -> bool:
    """Return whether earlier versions may have computed something else for TEXT; they cut it at
    U+001F.
    """
    return "\x1f" in text or (
        any(sign in text for sign in MISREAD_SIGNS) and any(token in text for token in _MISREAD)
    )
