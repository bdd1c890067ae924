"""Bodies in a skeleton, by its shape alone: chains that are mirror images, legs, arms, trunk, and
what they do when they walk."""
