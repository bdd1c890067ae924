"""Runs the engine on a problem, at once or live: weights, joints, volumes, patches.
Any thread may do it."""
