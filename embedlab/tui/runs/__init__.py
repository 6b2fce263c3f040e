"""The Runs room: its list and panes, the sheet that launches, and the board of a grid."""
