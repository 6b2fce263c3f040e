"""The widgets of the dashboard: each owns its appearance and keys and posts messages."""
