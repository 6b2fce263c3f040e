"""The launch screen."""

from embedlab.tui.screens.base import DashboardScreen


class LaunchScreen(DashboardScreen):
    """Its keys; the screen itself follows."""

    PLACE = "launch"
