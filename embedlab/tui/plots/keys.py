"""The keys of the Plots screen."""

from embedlab.tui.command import ScreenEntry, command
from embedlab.tui.face_to_face import FACE_KEYS

ENTRY = ScreenEntry(
    key="5",
    label="Plots",
    tooltip="Plot the pairs that Pairs shows.",
    commands=(
        command("d", "plot", "Plot", "The next plot.", show=True),
        command("D", "plot(-1)", "Plot before", "The previous plot.", shown="D"),
        command("m", "model", "Model", "Plot the next model.", show=True),
        command("p", "pin", "Reference", "Make the plotted model the reference."),
        *FACE_KEYS,
    ),
    has_table=False,
    has_plot=True,
    is_restored=False,
)
