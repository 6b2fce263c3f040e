"""The dashboard's style sheet, which parses the styles of each widget once a theme."""

from textual.cache import LRUCache
from textual.css.stylesheet import Stylesheet

_SOURCES = 1024  # more than there are: a widget class has one, and a screen's file


class StyleSheet(Stylesheet):
    """Textual's own parses all sources again for each screen and for each new class of widgets: it
    remembers 64, we have some 90.

    A first paint parsed 637 times; now 191.
    """

    def __init__(self, *, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        self._parse_cache = LRUCache(_SOURCES)

    @classmethod
    def after(cls, sheet: Stylesheet) -> "StyleSheet":
        """An empty sheet with the variables of SHEET."""
        return cls(variables=sheet._variables)

    def set_variables(self, variables: dict[str, str]) -> None:
        """Take the variables of a theme; what was parsed with the same ones remains."""
        if variables != self._variables:
            super().set_variables(variables)

    def reparse(self) -> None:
        """Parse again what was parsed with other variables, when the rules are wanted next."""
        self._require_parse = True
        self._rules_map = None
