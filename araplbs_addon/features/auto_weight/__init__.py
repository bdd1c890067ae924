"""Auto-weight: weights that make the posed mesh as rigid as possible,
at once or live, and its result."""
