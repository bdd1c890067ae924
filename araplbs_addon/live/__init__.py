"""Sessions that show what converges and can be steered, a step at a time in a window."""
