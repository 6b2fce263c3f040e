"""From a recipe to a trained encoder."""
