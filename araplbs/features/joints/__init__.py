"""Optimize Joints finds better joint positions together with the weights, in a single run or in a
live session."""
