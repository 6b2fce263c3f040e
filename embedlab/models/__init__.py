"""Model names: grammar, catalog, folders, the hub."""
