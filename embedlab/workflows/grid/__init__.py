"""A grid planned, run, followed, tabulated and cancelled."""
