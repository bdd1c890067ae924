"""Optimize Joints: finds better joint positions together with the weights,
at once or in a live session."""
