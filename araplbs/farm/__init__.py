"""Processes many .blend files, in several Blender processes on one machine or on a farm. This
folder does not need Blender; a task is one file and the arguments for weighting it (tasks.py)."""
