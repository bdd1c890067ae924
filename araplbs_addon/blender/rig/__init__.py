"""How a rig moves itself: the bones that its controls move, and random poses that it can take.
A hidden copy of the rig is posed, never the rig itself."""
