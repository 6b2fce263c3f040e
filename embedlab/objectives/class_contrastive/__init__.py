"""Contrast between classes over dropout views (SupCL-Seq)."""
