"""The keys of the Runs screen."""

from embedlab.tui.command import ScreenEntry, command

ENTRY = ScreenEntry(
    key="3",
    label="Runs",
    tooltip="Follow finished and running trainings.",
    commands=(
        command("l", "log", "Log", "The run's log, or its curves again.", show=True),
        command("slash", "search", "Search", "Show the runs whose name, objective or state has all these words.", show=True, shown="/"),
        command("b", "fold", "Fold", "Fold the seeds of each run into one row, or show each; enter opens one row."),
        command("v", "log_axis", "Log axis", "Draw the loss on a logarithmic axis, or on a linear one."),
        command("w", "smooth", "Smooth", "Smooth the curves a little, much, or not."),
        command("a", "seed_dots", "Seed dots", "Show the points of each seed, or the range of the seeds alone."),
        command("f", "freeze", "Freeze", "Stop or continue live updates."),
        command("d", "difference", "Difference", "The differences between two marked runs, or the marked run and this one."),
        command("x", "cancel", "Cancel", "Stop the run after it has saved a checkpoint.", show=True),
        command("o", "resume", "Resume", "Resume an unfinished run.", show=True),
        command("m", "rename", "Rename", "Give the run another name."),
        command("D,delete", "delete", "Delete", "Delete the run with everything in its folder.", shown="D  delete"),
        command("e", "evaluate", "Evaluate", "Score the available pairs with the run's model."),
    ),
    has_curves=True,
)
