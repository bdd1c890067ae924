"""Processes many .blend files in Blender processes on one machine or on a farm. This folder does
not need Blender. A task consists of one file and the arguments for weighting it (tasks.py)."""
