"""The screens of the dashboard: each composes widgets and reacts to their messages."""
