"""Determines how a rig moves: the bones that the controls move, and random poses that the rig can
reach. Only a hidden copy of the rig is posed, never the rig itself."""
