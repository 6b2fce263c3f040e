"""The Data room: items with what each model got on them, histograms that filter, details."""
