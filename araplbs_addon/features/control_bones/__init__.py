"""Control bones: bones that only control the rig,
and the choice to have them deform."""
