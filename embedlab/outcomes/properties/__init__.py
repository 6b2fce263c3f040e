"""One property a file: a column by which items are grouped and filtered."""
