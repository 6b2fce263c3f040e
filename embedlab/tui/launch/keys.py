"""The keys of the Launch screen."""

from embedlab.tui.command import ScreenEntry, command

ENTRY = ScreenEntry(
    key="4",
    label="Launch",
    tooltip="Start a training.",
    commands=(
        command("start", "Start a separate process.", show=True),
        command(
            "view",
            "To the cells of the started grid: the arrow keys walk, enter compares the cells "
            "or shows those pairs, esc comes back.",
            action="map",
            label="Map",
        ),
        command(
            "open",
            "To the values of the recipe or grid under the cursor, or from a cell of the map "
            "to its pairs, or the comparison of all.",
            show=True,
        ),
        command(
            "resume", "Resume the started grid that is shown, in a separate process.", show=True
        ),
        command(
            "stop",
            "Stop the started grid that is shown: its cells save a checkpoint.",
            action="cancel",
            show=True,
        ),
        command(
            "filter",
            "Show the recipes and grids whose name or summary has all these words.",
            action="search",
            label="Search",
        ),
        command(
            "open_file",
            "Open a recipe or grid of your own by the path of its TOML file.",
            show=True,
        ),
        command("undo", "Restore the recipe's own values.", label="Recipe values", show=True),
    ),
    has_table=False,
)
