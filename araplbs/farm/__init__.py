"""Many .blend files: on several processes of Blender on one machine, or on a farm. It does not
need Blender itself: a task is one file and the arguments that weight it (tasks.py)."""
