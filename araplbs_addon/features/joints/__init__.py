"""Optimize Joints improves joint positions together with their weights, at once or live."""
