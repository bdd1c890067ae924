"""Optimize Joints: better places for joints, with their weights,
at once or live."""
