"""The keys of the Pairs screen."""

from embedlab.tui.command import ScreenEntry, command
from embedlab.tui.face_to_face import FACE_KEYS

ENTRY = ScreenEntry(
    key="1",
    label="Pairs",
    tooltip="Browse pairs, filter and sort them.",
    commands=(
        command(
            "filter",
            "Filter as you type; enter goes to the table, esc clears the filter.",
            show=True,
        ),
        command("dataset_before", "The previous dataset.", action="dataset(-1)"),
        command("dataset", "The next dataset, and all of them.", action="dataset(1)", show=True),
        command("models", "Choose models and columns.", action="columns", show=True),
        command(
            "two_lines",
            "Each pair on two lines with the differing words highlighted, or on one.",
            action="stack",
        ),
        command(
            "what_if",
            "Edit the pair's sentences: each model's percentile rank, and how far it moves.",
            action="score_pair",
        ),
        command(
            "words",
            "What each word does: to the difference of A and B, under A, under B; then the "
            "sentences alone.",
        ),
        command(
            "note",
            "Write a note on the pair, which is stored and exported; an empty one is deleted.",
        ),
        command(
            "once", "Show a pair that several datasets share once; again shows each of its copies."
        ),
        command("only_marked", "Show only marked pairs; again shows all."),
        command("next", "To the next marked pair.", action="next_mark(1)", label="Next mark"),
        command(
            "previous", "To the previous marked pair.", action="next_mark(-1)", label="Mark before"
        ),
        command("clear_marks", "Remove all marks."),
        command("copy", "Copy the pair under the cursor.", action="copy_pair"),
        command("copy_view", "Copy the table as shown as tab-separated text."),
        command("export", "Write the view as csv, parquet, markdown or svg."),
        *FACE_KEYS,
        command(
            "verdict",
            "Face to face: A right and B wrong, B right and A wrong, both wrong, both right, all.",
        ),
        command(
            "add_model",
            "Score the pairs with a model that has no stored scores.",
            label="Add a model",
        ),
    ),
)
