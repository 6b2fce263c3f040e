"""The papers' tables: what makes their rows, and their published numbers."""
