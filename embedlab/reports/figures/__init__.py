"""One figure a file, with a `FIGURE`; see `figure_kinds`."""
