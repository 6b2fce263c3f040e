"""The papers' tables: what produces their rows, and their published numbers."""
