"""Processes many .blend files in several Blender processes on one machine or on a farm. The code in
this folder runs outside of Blender. A task consists of one file and the arguments for weighting it
(tasks.py)."""
