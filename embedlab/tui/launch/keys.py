"""The keys of the Launch screen."""

from embedlab.tui.command import ScreenEntry, command

ENTRY = ScreenEntry(
    key="4",
    label="Launch",
    tooltip="Start a training.",
    commands=(
        command("ctrl+s", "start", "Start", "Start a separate process.", show=True, shown="ctrl+s"),
        command("m", "map", "Map", "To the cells of the started grid: the arrow keys walk, enter shows a cell's runs, esc comes back."),
        command("enter", "open", "Open", "To the values of the recipe or grid under the cursor, or from a cell of the map to its runs."),
        command("o", "resume", "Resume", "Resume the started grid that is shown, in a separate process."),
        command("x", "cancel", "Cancel", "Stop the started grid that is shown: its cells save a checkpoint.", show=True),
        command("p", "open_file", "Open file", "Open a recipe or grid of your own by the path of its TOML file."),
        command("u", "undo", "Recipe values", "Restore the recipe's own values."),
    ),
    has_table=False,
)
