"""The keys of the Launch screen."""

from embedlab.tui.command import ScreenEntry, command

ENTRY = ScreenEntry(
    key="4",
    label="Launch",
    tooltip="Start a training.",
    commands=(
        command("ctrl+s", "start", "Start", "Start a separate process.", show=True, shown="ctrl+s"),
        command("u", "undo", "Recipe values", "Restore the recipe's own values."),
    ),
    has_table=False,
)
