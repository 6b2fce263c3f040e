"""The keys of the Compare screen."""

from embedlab.tui.command import ScreenEntry, command
from embedlab.tui.face_to_face import FACE_KEYS

ENTRY = ScreenEntry(
    key="2",
    label="Compare",
    tooltip="Compare models side by side, slice by slice.",
    commands=(
        command("b", "cut", "Cut by", "Datasets, sources, Dice fifths, all tasks.", show=True),
        command("v", "aggregate", "Aggregation", "All pairs at once, mean over sources, mean weighted by pairs."),
        command("p", "pin", "Reference", "Make the model under the cursor the reference of the differences.", show=True),
        command("d", "plot", "Plot", "The next pane: plots, disagreements, forest plot, fifths.", show=True),
        command("D", "plot(-1)", "Plot before", "The pane before it.", shown="D"),
        command("equals_sign", "margin", "Equivalence", "Choose the margin within which a difference counts as none.", shown="="),
        command("C", "common", "Common pairs", "Compare on the pairs that all models score; again: each dataset whole.", shown="C"),
        command("c", "columns", "Models", "Choose the models; / finds one, or takes the name or file of another.", show=True),
        command("e", "export", "Export", "Write the table as csv, json or markdown."),
        *FACE_KEYS,
    ),
    has_plot=True,
)
