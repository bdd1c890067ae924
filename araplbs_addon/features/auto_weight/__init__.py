"""Auto-weight: skinning weights that keep the posed mesh as
rigid as possible, computed at once or live, and their result."""
