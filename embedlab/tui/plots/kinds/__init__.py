"""The plots of pairs, a file each with a PLOT; the Plots and the Compare screen show all that are here."""
