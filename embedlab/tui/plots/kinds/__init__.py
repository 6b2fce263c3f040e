"""The plots of pairs, a file each with a PLOT; Plots and Compare show all in this folder."""
