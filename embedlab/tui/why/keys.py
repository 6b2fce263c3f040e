"""The keys of the Why screen."""

from embedlab.tui.command import ScreenEntry, command
from embedlab.tui.face_to_face import FACE_KEYS

ENTRY = ScreenEntry(
    key="6",
    label="Why",
    tooltip="Why two models differ on the selected pairs.",
    commands=(
        command(
            "view",
            "The next pane: where, in common, typical, seeds.",
            action="pane(1)",
            label="Pane",
            show=True,
        ),
        command("view_before", "The pane before it.", action="pane(-1)", label="Pane before"),
        *FACE_KEYS,
    ),
    is_restored=False,
)
