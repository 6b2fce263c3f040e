"""How wide LaTeX sets a text in footnote size, so that a table can be fitted to a column before
anything is compiled.
"""

POINTS_PER_INCH = 72.27
COLUMN_PT = (
    3.03 * POINTS_PER_INCH
)  # of a page with two columns: ACL's, the narrowest of the usual ones (IEEE 3.5 in, ICML 3.25 in)
SEPARATION_PT = 3.0  # on both sides of a table's columns

_SIZE_PT = (
    8.0 * 1.0625
)  # Computer Modern is wider at 8 points than its shape at 10, whose widths follow
_BOLD, _RAISED = 1.15, 0.75  # bold is wider; raised text is set at 6 points
_OTHER = 778
_WIDTHS = {
    character: width
    for width, characters in {
        278: "!,.:;'il[]",
        306: "fj",
        333: " -",
        361: "I",
        389: "()",
        392: "rst",
        444: "cez†‡ε",
        472: "?",
        500: "ag0123456789$*/_–",
        514: "J",
        528: "kqvxyν",
        556: "bdhnopuS",
        611: "Z",
        625: "L",
        653: "F",
        681: "EP",
        708: "B",
        722: "CTw",
        736: "R",
        750: "AHNUVXY",
        764: "D",
        778: "&+=<>@GKOQ±−×",
        833: "m#%",
        917: "M",
        1028: "W",
    }.items()
    for character in characters
}


def text_pt(text: str, *, is_bold: bool = False, is_raised: bool = False) -> float:
    """Return the width of a line in points."""
    thousandths = sum(_WIDTHS.get(character, _OTHER) for character in text)
    return thousandths / 1000 * _SIZE_PT * (_BOLD if is_bold else 1) * (_RAISED if is_raised else 1)


def broken_title(title: str, width_pt: float) -> list[str]:
    """Return a TITLE in lines that are no wider than WIDTH_PT, or than its longest word; words are
    not divided.
    """
    words = title.split() or [""]
    most = max(width_pt, *map(text_pt, words))
    lines = [words[0]]
    for word in words[1:]:
        if text_pt(longer := f"{lines[-1]} {word}") <= most:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
