"""Cross-entropy with a supervised contrastive term."""
