"""Control bones: bones that only control the
rig, and the option to let them deform."""
