"""The keys of the Why screen."""

from embedlab.tui.command import ScreenEntry, command
from embedlab.tui.face_to_face import FACE_KEYS

ENTRY = ScreenEntry(
    key="6",
    label="Why",
    tooltip="Why two models differ on the selected pairs.",
    commands=(
        command("d", "pane(1)", "Pane", "The next pane: where, in common, typical, seeds.", show=True),
        command("D", "pane(-1)", "Pane before", "The pane before it.", shown="D"),
        *FACE_KEYS,
    ),
    is_restored=False,
)
