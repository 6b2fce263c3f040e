"""The keys of the Plots screen."""

from embedlab.tui.command import ScreenEntry, command
from embedlab.tui.face_to_face import FACE_KEYS

ENTRY = ScreenEntry(
    key="5",
    label="Plots",
    tooltip="Plot the pairs that Pairs shows.",
    commands=(
        command("view", "The next plot.", action="plot", label="Plot", show=True),
        command("view_before", "The previous plot.", action="plot(-1)", label="Plot before"),
        command("next_model", "Plot the next model.", action="model", show=True),
        command("model_before", "Plot the model before it.", action="model(-1)"),
        command("reference", "Make the plotted model the reference.", action="pin"),
        *FACE_KEYS,
    ),
    has_table=False,
    has_plot=True,
    is_restored=False,
)
