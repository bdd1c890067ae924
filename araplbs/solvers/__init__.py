"""Runs the engine on a problem, once or live, for weights, joints, volumes and patches. Any thread
may run it."""
