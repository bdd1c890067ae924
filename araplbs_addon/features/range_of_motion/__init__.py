"""Range of Motion: an action that moves
every joint through its limits."""
