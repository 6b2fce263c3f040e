"""The pairs that all screens show: their table, the selected rows, and how both are stored."""
