"""Lets the user choose whether control bones deform vertices."""
