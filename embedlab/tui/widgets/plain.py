"""Text from outside made safe to draw: a sentence may hold anything, and a terminal obeys control characters."""

# Control characters, line and paragraph separators, and the marks that turn the direction of the text after them.
_CONTROLS = [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF]
_BLANKS = dict.fromkeys(_CONTROLS, " ")


def plain(text: str) -> str:
    """TEXT on one line, each character that a terminal would act on replaced by a blank."""
    return text if text.isascii() and text.isprintable() else text.translate(_BLANKS)
