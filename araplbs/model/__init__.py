"""Plain data that all rooms above use: options, rows of weights, edits,
and deformers."""
