"""Auto-weight computes skinning weights that keep the posed mesh as rigid as possible, at once or
live, and shows the result."""
