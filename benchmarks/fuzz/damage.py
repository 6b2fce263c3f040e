"""What damages a file: seeded mutations of its bytes, its lines and its fields."""

import random
from collections.abc import Callable, Mapping

Mutation = Callable[[bytes, random.Random], bytes]

DEEP = b"[" * 100_000
LONG_NUMBER = b"9" * 5_000
HUGE = (
    b"1e308",
    b"1e999",
    b"-1e999",
    b"nan",
    b"inf",
    b"-inf",
    b"0x10",
    b"1_000",
    b"9" * 30,
    LONG_NUMBER,
)
CONTROL = (
    b"\x00",
    b"\x1b[31m",
    b"\x07",
    b"\x08",
    b"\x0b",
    b"\x0c",
    b"\x85",
    b"\xc2\x85",
    b"\xe2\x80\xa8",
    b"\xe2\x80\xae",
)
ODD_BYTES = (
    b"\xff",
    b"\xfe\xff",
    b"\x80",
    b"\xc3",
    b"\xf0\x9f",
    b"\xed\xa0\x80",
    b"\xef\xbf\xbe",
    b"\xef\xbb\xbf",
)
VALUES = (
    b"",
    b" ",
    b"null",
    b"true",
    b"{}",
    b"[]",
    b"[1, 2]",
    b'{"a": 1}',
    b"-1",
    b"7",
    b"1.5",
    b'"',
    b"'",
    b"\\",
    b"\xc2\xa0",
)


def flip_bits(content: bytes, rng: random.Random) -> bytes:
    """One to eight bits at random places are flipped."""
    changed = bytearray(content)
    for _ in range(rng.randint(1, 8) if changed else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def truncate(content: bytes, rng: random.Random) -> bytes:
    """The end is lost."""
    return content[: rng.randrange(len(content) + 1)]


def lose_start(content: bytes, rng: random.Random) -> bytes:
    """The beginning is lost."""
    return content[rng.randrange(len(content) + 1) :]


def insert(content: bytes, rng: random.Random, what: bytes) -> bytes:
    """WHAT is inserted at a random place."""
    place = rng.randrange(len(content) + 1)
    return content[:place] + what + content[place:]


def random_bytes(content: bytes, rng: random.Random) -> bytes:
    """Some random bytes are inserted."""
    return insert(content, rng, rng.randbytes(rng.randint(1, 20)))


def odd_bytes(content: bytes, rng: random.Random) -> bytes:
    """Bytes that are not UTF-8, or a byte order mark, are inserted."""
    return insert(content, rng, rng.choice(ODD_BYTES))


def control_characters(content: bytes, rng: random.Random) -> bytes:
    """A NUL, an escape sequence or another control character is inserted."""
    return insert(content, rng, rng.choice(CONTROL))


def quotes(content: bytes, rng: random.Random) -> bytes:
    """A quote, or several, is inserted."""
    return insert(content, rng, rng.choice((b'"', b'""', b'"""', b"'", b'\\"', b'"\n"', b'",')))


def byte_order_mark(content: bytes, rng: random.Random) -> bytes:
    """A byte order mark comes first, alone or not."""
    return b"\xef\xbb\xbf" + (content if rng.random() < 0.7 else b"")


def nothing(_content: bytes, rng: random.Random) -> bytes:
    """The file is empty or blank."""
    return rng.choice(
        (b"", b"\n", b" ", b"\r\n", b"\n\n\n", b"\t", b"\x00", b"\xef\xbb\xbf\n", b"\r")
    )


def other_line_ends(content: bytes, rng: random.Random) -> bytes:
    """Lines end in another way, or some of them do."""
    end = rng.choice((b"\r", b"\r\n", b"\n\r", b"\x0b", b"\xe2\x80\xa8", b"\n\n"))
    if rng.random() < 0.5:
        return content.replace(b"\n", end)
    return content.replace(b"\n", end, rng.randint(1, 3))


def other_encoding(content: bytes, rng: random.Random) -> bytes:
    """The text is written in another encoding."""
    name = rng.choice(("utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "utf-7"))
    return ("é " + content.decode("utf-8", errors="replace")).encode(name, errors="replace")


def change_lines(content: bytes, rng: random.Random) -> bytes:
    """Lines are deleted, doubled, swapped or blanked."""
    lines = content.split(b"\n")
    place = rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[place : place + rng.randint(1, 3)]
        case 1:
            lines.insert(place, lines[rng.randrange(len(lines))])
        case 2:
            lines[place] = rng.choice((b"", b" ", b"\t", b"\t\t\t"))
        case _:
            other = rng.randrange(len(lines))
            lines[place], lines[other] = lines[other], lines[place]
    return b"\n".join(lines)


def change_fields(content: bytes, rng: random.Random) -> bytes:
    """A field of a line is deleted, doubled, blanked, split or replaced by a value of another
    kind.
    """
    lines = content.split(b"\n")
    place = rng.randrange(len(lines))
    separator = next((one for one in (b"\t", b",", b" ") if one in lines[place]), b"\t")
    fields = lines[place].split(separator)
    at = rng.randrange(len(fields))
    match rng.randrange(5):
        case 0:
            del fields[at]
        case 1:
            fields.insert(at, fields[at])
        case 2:
            fields[at] = (
                fields[at][: len(fields[at]) // 2] + separator + fields[at][len(fields[at]) // 2 :]
            )
        case _:
            fields[at] = rng.choice((*VALUES, *HUGE, *CONTROL))
    lines[place] = separator.join(fields)
    return b"\n".join(lines)


def huge_numbers(content: bytes, rng: random.Random) -> bytes:
    """A run of digits becomes a number that no column holds."""
    places = [place for place, byte in enumerate(content) if chr(byte).isdigit()]
    if not places:
        return content + rng.choice(HUGE)
    place = rng.choice(places)
    return content[:place] + rng.choice(HUGE) + content[place + 1 :]


def change_json(content: bytes, rng: random.Random) -> bytes:
    """A line becomes JSON that is deep, of another type, or holds what JSON allows and text does
    not.
    """
    lines = content.split(b"\n")
    odd = (
        DEEP,
        b'{"a":' * 20_000,
        b'{"sentence1": ' + DEEP + b"]" * 100_000 + b"}",
        b'{"sentence1": "\\ud800", "sentence2": "b", "score": 1, "sentence": "\\udc00"}',
        b'{"sentence1": "\\u0000", "sentence2": "b", "score": 1, "sentence": "a"}',
        b'{"sentence1": "a", "sentence2": "b", "score": ' + LONG_NUMBER + b', "sentence": "c"}',
        b'{"sentence1": 1, "sentence2": null, "score": "x", "sentence": []}',
        b'{"sentence1": "a", "sentence1": "b", "sentence2": "c", "score": 1, "sentence": '
        b'"a", "sentence": "b"}',
        b'{"sentence1": {"a": 1}, "sentence2": [1], "score": true, "sentence": {}}',
        b'{"sentence1": "a", "sentence2": "b", "score": NaN, "sentence": "c"}',
        b'{"sentence1": "a", "sentence2": "b", "score": 1e999, "sentence": "c"}',
        b'{"gold_label": 3, "sentence1": "a", "sentence2": "b"}',
        b'{"gold_label": "neutral", "sentence1": "\\ud83d", "sentence2": "b"}',
        b'{"gold_label": "neutral", "sentence1": ["a"], "sentence2": {"b": 1}}',
        b"[]",
        b"null",
        b"1",
        LONG_NUMBER,
        b'"text"',
        b"{}",
    )
    lines[rng.randrange(len(lines))] = rng.choice(odd)
    return b"\n".join(lines)


MUTATIONS: Mapping[str, Mutation] = {
    one.__name__.replace("_", " "): one
    for one in (
        flip_bits,
        truncate,
        lose_start,
        random_bytes,
        odd_bytes,
        control_characters,
        quotes,
        byte_order_mark,
        nothing,
        other_line_ends,
        other_encoding,
        change_lines,
        change_fields,
        huge_numbers,
        change_json,
    )
}
