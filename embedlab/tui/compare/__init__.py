"""The Compare room: the verdict, a forest plot, why, and a scatter."""
