"""Make foreign text safe to draw: a sentence may hold any character, and a terminal obeys control
characters.
"""

# Control characters, line and paragraph separators, and the marks that change the direction of the
# following text.
CONTROLS = [
    *range(0x20),
    *range(0x7F, 0xA0),
    0x2028,
    0x2029,
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
    0xFEFF,
]
_BLANKS = dict.fromkeys(CONTROLS, " ")


def plain(text: str) -> str:
    """TEXT on one line, with a blank for each character that a terminal would obey."""
    return text if text.isascii() and text.isprintable() else text.translate(_BLANKS)
