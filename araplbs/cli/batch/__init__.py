"""Processes many files, each as a task that any machine can run: in processes that stay on this
machine, or on a farm. Both command lines, `araplbs` and `blender -c araplbs`, use this folder."""
