"""The runs screen."""

from embedlab.tui.screens.base import DashboardScreen


class RunsScreen(DashboardScreen):
    """Its keys; the screen itself follows."""

    PLACE = "runs"
