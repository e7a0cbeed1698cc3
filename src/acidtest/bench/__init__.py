"""Measures acidtest against the bare driver, in one run, as ratios."""
