"""Two models face to face: what every screen says of them, and the keys that choose them."""

from embedlab.analysis.pairing import RIGHT, WRONG, Pairing
from embedlab.tui.command import command
from embedlab.tui.key_table import shown_key
from embedlab.tui.model_titles import short_name

VERDICTS = ("A", "B", "neither", "both")  # of the field "right"
_NAME = 24  # cells
FACE_KEYS = (
    command(
        "face",
        "Show the reference (A) and the model under the cursor (B) alone; again shows all.",
        show=True,
    ),
    command("swap", "Make B the reference."),
)


def named(pairing: Pairing) -> str:
    """The two models with their letters."""
    return f"A {short_name(pairing.reference, _NAME)} · B {short_name(pairing.other, _NAME)}"


def described(pairing: Pairing) -> str:
    """The two models, and when a model is right or wrong on a pair."""
    rule = f"right: rank error within {RIGHT:z.0f} points, wrong: {WRONG:z.0f} or more"
    return f"{named(pairing)} · {rule} · Δ: B minus A · {shown_key('verdict')} right/wrong"
