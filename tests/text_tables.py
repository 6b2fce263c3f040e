"""Tables of tests that are written as text."""


def rows_of(text: str) -> list[list[str]]:
    """The cells of each line, which `::` separates."""
    return [line.split(" :: ") for line in text.strip().splitlines()]
