"""What a typed model name is: grammar, catalog, folders, the hub."""
