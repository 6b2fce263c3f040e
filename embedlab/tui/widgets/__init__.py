"""The widgets of the dashboard: each owns its look and keys and posts messages."""
