"""How a rig moves: the bones that its controls move, and random poses that it
can reach. Only a hidden copy of the rig is posed, never the rig itself."""
