"""The keys of the Pairs screen."""

from embedlab.tui.command import ScreenEntry, command
from embedlab.tui.face_to_face import FACE_KEYS

ENTRY = ScreenEntry(
    key="1",
    label="Pairs",
    tooltip="Browse pairs, filter and sort them.",
    commands=(
        command("slash", "filter", "Filter", "Filter as you type; enter goes to the table, esc clears the filter.", show=True, shown="/"),
        command("left_square_bracket", "dataset(-1)", "Dataset −", "The previous dataset.", shown="["),
        command("right_square_bracket", "dataset(1)", "Dataset", "The next dataset, and all of them.", show=True, shown="]"),
        command("c", "columns", "Columns", "Choose models and columns.", show=True),
        command("D", "stack", "Differing words", "Each pair on two lines with the differing words highlighted, or on one.", shown="D"),
        command("i", "score_pair", "What if", "Edit the pair's sentences: each model's percentile rank, and how far it moves."),
        command("p", "plot", "Plot", "Plot the shown pairs."),
        command("o", "note", "Note", "Write a note on the pair, which is stored and exported; an empty one is deleted."),
        command("u", "once", "Once", "Show a pair that several datasets share once; again shows each of its copies."),
        command("m", "only_marked", "Marked", "Show only marked pairs; again shows all."),
        command("n", "next_mark(1)", "Next mark", "To the next marked pair."),
        command("N", "next_mark(-1)", "Mark before", "To the previous marked pair.", shown="N"),
        command("M", "clear_marks", "Clear marks", "Remove all marks.", shown="M"),
        command("y", "copy_pair", "Copy", "Copy the pair under the cursor."),
        command("Y", "copy_view", "Copy view", "Copy the table as shown as tab-separated text.", shown="Y"),
        command("e", "export", "Export", "Write the view as csv, parquet, markdown or svg."),
        *FACE_KEYS,
        command(
            "w",
            "verdict",
            "Right/wrong",
            "Face to face: A right and B wrong, B right and A wrong, both wrong, both right, all.",
        ),
        command("a", "add_model", "Add a model", "Score the pairs with a model that has no stored scores."),
    ),
)
