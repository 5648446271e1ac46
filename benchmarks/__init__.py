"""Figures measured side by side in one run, as ratios."""
