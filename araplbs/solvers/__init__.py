"""Runs the engine on a problem, once or live, for weights, joints, volumes and patches. The code
may run in any thread."""
