"""Plain data for all folders above: options, rows of weights,
edits, and deformers."""
