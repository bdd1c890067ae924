"""Range of Motion creates an action that moves every joint to its limits."""
