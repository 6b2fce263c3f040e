"""The keys of the Compare screen."""

from embedlab.tui.command import ScreenEntry, command
from embedlab.tui.face_to_face import FACE_KEYS

ENTRY = ScreenEntry(
    key="2",
    label="Compare",
    tooltip="Compare models side by side, slice by slice.",
    commands=(
        command("group", "A row for each dataset, source or Dice fifth.", action="cut", show=True),
        command("aggregate", "All pairs at once, mean over sources, mean weighted by pairs."),
        command(
            "reference",
            "Make the model under the cursor the reference of the differences.",
            action="pin",
            show=True,
        ),
        command(
            "view",
            "The next pane: plots, disagreements, forest plot, fifths.",
            action="plot",
            show=True,
        ),
        command("view_before", "The pane before it.", action="plot(-1)"),
        command(
            "equivalence",
            "Choose the margin within which a difference counts as none.",
            action="margin",
        ),
        command("common", "Compare on the pairs that all models score; again: each dataset whole."),
        command(
            "models",
            "Choose the models; / finds one, or takes the name or file of another.",
            action="columns",
            show=True,
        ),
        command("export", "Write the table as csv, json or markdown."),
        *FACE_KEYS,
    ),
    has_plot=True,
    lacks=frozenset({"mark"}),
)
