"""Bodies in a skeleton, found by shape alone: mirrored chains, legs, arms, trunk, and their
motions in a walk."""
