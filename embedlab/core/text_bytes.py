"""The bytes of a text by which what is computed of it is stored."""

APART = b"\xff"  # between texts: no UTF-8 text contains it
# Earlier versions cut a text at U+001F, and gave what follows a separator in it another type.
_WRONG_BEFORE = ("\x1f", "[SEP]", "</s>", "<sep>")


def text_bytes(text: str) -> bytes:
    """Return bytes that are different for different texts; what earlier versions stored of a text they misread has other ones."""
    content = text.encode("utf-8", "surrogatepass")
    one, two, three, four = _WRONG_BEFORE
    is_keyed_anew = one in text or two in text or three in text or four in text  # any() takes five times as long
    return APART + content if is_keyed_anew else content
