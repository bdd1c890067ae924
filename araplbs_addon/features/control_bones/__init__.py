"""Lets the user decide whether bones that only control the rig deform vertices."""
