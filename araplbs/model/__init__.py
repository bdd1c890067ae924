"""Plain data for all rooms above: options, rows of weights,
edits, and deformers."""
