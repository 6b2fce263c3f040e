"""Ablation grids: a recipe and axes give cells, which are runs that several processes share."""
