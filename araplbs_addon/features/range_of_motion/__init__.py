"""Range of Motion: an action that takes every joint
through its limits."""
