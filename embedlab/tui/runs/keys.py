"""The keys of the Runs screen."""

from embedlab.tui.command import ScreenEntry, command

ENTRY = ScreenEntry(
    key="3",
    label="Runs",
    tooltip="Follow finished and running trainings.",
    commands=(
        command("log", "The run's log, or its curves again.", show=True),
        command(
            "filter",
            "Show the runs whose name, objective or state has all these words.",
            action="search",
            label="Search",
            show=True,
        ),
        command(
            "group",
            "Fold the seeds of each run into one row, or show each; enter opens one row.",
            action="fold",
        ),
        command("log_axis", "Draw the loss on a logarithmic axis, or on a linear one."),
        command("smooth", "Smooth the curves a little, much, or not."),
        command("seed_dots", "Show the points of each seed, or the range of the seeds alone."),
        command("freeze", "Stop or continue live updates."),
        command(
            "recipes",
            "What differs between two marked runs, or the marked run and this one.",
            action="difference",
        ),
        command(
            "stop", "Stop the run after it has saved a checkpoint.", action="cancel", show=True
        ),
        command("resume", "Resume an unfinished run.", show=True),
        command("rename", "Give the run another name."),
        command("delete", "Delete the run with everything in its folder."),
        command("add_model", "Score the available pairs with the run's model.", action="evaluate"),
    ),
    has_curves=True,
)
