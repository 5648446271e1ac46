"""Kills along the explored graph: every transition of a small world, killed at every point that it passes."""
