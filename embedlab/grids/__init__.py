"""Ablation grids: a recipe and axes become cells, which are runs that several processes share."""
